#include "core/process/activity.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <vector>

#include "core/base/error.hpp"
#include "core/process/stdio_attribution.hpp"

namespace tmeter::core {
namespace {

Activity* shared = nullptr;

thread_local ActivitySlot* own_slot = nullptr;

ActivitySlot& take_slot() {
  auto& a = activity();
  // The process begins with one thread, the main one, which has slot 0.
  static std::atomic<bool> main_taken{false};
  if (!main_taken.exchange(true)) return a.slots[0];
  const auto i = a.slots_taken.fetch_add(1);
  return a.slots[i < Activity::kSlots ? i : Activity::kSlots - 1];
}

}  // namespace

Activity& activity() {
  if (shared) return *shared;
  static Activity unshared;
  return unshared;
}

void share_activity() {
  if (!shared) {
    void* page =
        mmap(nullptr, sizeof(Activity), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
      throw Error(ErrorKind::kRun, std::string("no memory to start with: ") + std::strerror(errno));
    shared = static_cast<Activity*>(page);
  }
  new (shared) Activity;
}

bool is_inside_plugin(const Activity& activity) {
  return std::any_of(activity.slots.begin(), activity.slots.end(),
                     [](const ActivitySlot& s) { return !s.plugin.empty(); });
}

void leave_activity() {
  if (!shared) return;
  // Mapped at the address of the shared page, so that no pointer leads to the shared one.
  std::vector<std::byte> bytes(sizeof(Activity));
  std::memcpy(bytes.data(), static_cast<const void*>(shared), bytes.size());
  const void* page = mmap(shared, sizeof(Activity), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (page == MAP_FAILED) _exit(1);
  std::memcpy(static_cast<void*>(shared), bytes.data(), bytes.size());
}

ActivitySlot& activity_slot() {
  if (!own_slot) own_slot = &take_slot();
  return *own_slot;
}

PluginScope::PluginScope(std::string_view plugin, std::string_view doing, OpenedFor opening)
    : slot_(activity_slot()), opening_(slot_.opening) {
  if (!slot_.plugin.empty() || !slot_.doing.empty())
    outer_.emplace(Words{slot_.plugin, slot_.doing});
  attribute_stdio_to(plugin);
  slot_.plugin.set(plugin);
  slot_.doing.set(doing);
  slot_.opening = opening;
  slot_.at.clear();
}

PluginScope::~PluginScope() {
  if (outer_) {
    slot_.plugin = outer_->plugin;
    slot_.doing = outer_->doing;
    attribute_stdio_to(slot_.plugin.view());
  } else {
    slot_.plugin.clear();
    slot_.doing.clear();
  }
  slot_.opening = opening_;
  slot_.at.clear();
}

NodeScope::NodeScope(int64_t index, std::string_view op, std::string_view module)
    : slot_(activity_slot()), before_(slot_.node) {
  slot_.node = index;
  slot_.op.set(op);
  slot_.module.set(module);
}

NodeScope::~NodeScope() { slot_.node = before_; }

}  // namespace tmeter::core
