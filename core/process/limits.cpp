#include "core/process/limits.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <utility>

#include "core/base/descriptor.hpp"
#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

/// A quantity from `least` to `most`.
double parse(const std::string& option, const std::string& text, unsigned dimensions, double least,
             double most, const std::string& expected) {
  const auto q = parse_quantity(text, dimensions);
  if (q.problem.empty() && q.value >= least && q.value <= most) return q.value;
  throw Error(ErrorKind::kUsage, option + " " + printable(text) + ": " + expected + " is expected" +
                                     (q.problem.empty() ? "" : "; " + q.problem));
}

/// Bytes of private writable memory that this process has mapped: the sixth number. Not by stdio,
/// which takes 0.1 ms for it.
uint64_t mapped_data() {
  const Descriptor file(open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
  std::array<char, 256> text{};
  const auto size = file.get() < 0 ? -1 : read(file.get(), text.data(), text.size());
  std::string_view rest(text.data(), size > 0 ? static_cast<size_t>(size) : 0);
  for (int i = 0; i < 5; ++i) rest = rest.substr(std::min(rest.find(' ') + 1, rest.size()));
  uint64_t pages = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), pages);
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

uint64_t default_max_memory() {
  constexpr uint64_t kMaxDefaultMemory = uint64_t{8} << 30;
  struct sysinfo info {};
  if (sysinfo(&info) != 0) return kMaxDefaultMemory;
  return std::min(kMaxDefaultMemory, static_cast<uint64_t>(info.totalram) * info.mem_unit / 2);
}

uint64_t parse_bytes(const std::string& option, const std::string& text) {
  return static_cast<uint64_t>(parse(option, text, kBytes | kDimensionless, 0x1p20, 0x1p60,
                                     "a size of at least 1 MiB, as in 8GiB or 500MB,"));
}

double parse_seconds(const std::string& option, const std::string& text) {
  return parse(option, text, kTime, 1e-3, 1e9, "a time, as in 60, 500ms or 2min,");
}

std::string bytes_text(uint64_t bytes) {
  constexpr std::array<std::pair<const char*, double>, 3> kUnits{
      {{" GiB", 0x1p30}, {" MiB", 0x1p20}, {" KiB", 1024}}};
  for (const auto& [name, factor] : kUnits) {
    if (static_cast<double>(bytes) < factor) continue;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f", static_cast<double>(bytes) / factor);
    return std::string(text.data()) + name;
  }
  return std::to_string(bytes) + " bytes";
}

std::string seconds_text(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g s", seconds);
  return text.data();
}

bool limit_memory(uint64_t bytes) {
  if (mapped_data() >= bytes) return false;
  // brk and private writable mappings: not the model's, which are read-only.
  const rlimit limit{bytes, bytes};
  return setrlimit(RLIMIT_DATA, &limit) == 0;
}

uint64_t memory_limit() {
  rlimit limit{};
  const bool is_readable = getrlimit(RLIMIT_DATA, &limit) == 0;
  return is_readable && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : 0;
}

std::string out_of_memory_text() noexcept {
  constexpr const char* kShort = "out of memory";  // short enough to need no allocation
  try {
    const auto limit = memory_limit();
    if (limit == 0) return kShort;
    return kShort + (": more than " + bytes_text(limit)) + " (--max-memory) is needed";
  } catch (const std::bad_alloc&) {
    return kShort;
  }
}

bool has_memory_left() {
  constexpr size_t kMinMemoryLeft = size_t{1} << 20;
  const size_t size = std::max(kMinMemoryLeft, memory_limit() / 16);
  void* const some =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return some != MAP_FAILED && munmap(some, size) == 0;
}

}  // namespace tmeter::core
