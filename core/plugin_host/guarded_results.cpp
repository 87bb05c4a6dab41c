#include "core/plugin_host/guarded_results.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/error.hpp"

namespace tmeter::core {
namespace {

constexpr tmeter_id kMark = static_cast<tmeter_id>(0x5ea1ed0fab1e5eadULL);
constexpr size_t kMaxResults = 1 << 20;

}  // namespace

GuardedResults::GuardedResults(size_t count) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t used = (count + 2 * kMarks) * sizeof(tmeter_id);
  const size_t open = (used + page - 1) / page * page;
  bytes_ = open + page;
  void* memory = count > kMaxResults ? MAP_FAILED
                                     : mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw Error(ErrorKind::kPlugin,
                "there is no memory for the " + std::to_string(count) + " results of a shape rule");
  memory_ = static_cast<std::byte*>(memory);
  mprotect(memory_ + open, page, PROT_NONE);
  auto* first = reinterpret_cast<tmeter_id*>(memory_ + open - used);
  ids_ = {first + kMarks, count};
  std::ranges::fill(all(), kMark);
  std::ranges::fill(ids_, tmeter_id{0});
}

GuardedResults::~GuardedResults() { munmap(memory_, bytes_); }

bool GuardedResults::intact() const {
  const auto is_mark = [](tmeter_id id) { return id == kMark; };
  return std::ranges::all_of(all().first(kMarks), is_mark) &&
         std::ranges::all_of(all().last(kMarks), is_mark);
}

}  // namespace tmeter::core
