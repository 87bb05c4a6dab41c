#include "core/plugin_host/live_handles.hpp"

#include <atomic>
#include <mutex>
#include <unordered_set>

namespace tmeter::core {
namespace {

std::mutex builders_mutex;
std::unordered_set<const tmeter_builder*> live_builders;
/// A cached live builder: a loader uses the same one a million times in a row.
std::atomic<const tmeter_builder*> last_used_builder{nullptr};

}  // namespace

bool is_live(const tmeter_builder* builder) {
  if (!builder) return false;
  if (last_used_builder.load(std::memory_order_relaxed) == builder) return true;
  const std::lock_guard lock(builders_mutex);
  if (!live_builders.contains(builder)) return false;
  last_used_builder.store(builder, std::memory_order_relaxed);
  return true;
}

BuilderRegistration::BuilderRegistration(const tmeter_builder* builder) : builder_(builder) {
  const std::lock_guard lock(builders_mutex);
  live_builders.insert(builder);
}

BuilderRegistration::~BuilderRegistration() {
  const std::lock_guard lock(builders_mutex);
  live_builders.erase(builder_);
  last_used_builder.store(nullptr, std::memory_order_relaxed);
}

}  // namespace tmeter::core
