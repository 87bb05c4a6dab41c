#include "core/process/limits.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/base/descriptor.hpp"
#include "core/base/error.hpp"

namespace tmeter::core {
namespace {

struct Unit {
  const char* name;
  double factor;
};
constexpr std::array<Unit, 13> kBytes{{{"", 1},
                                       {"B", 1},
                                       {"k", 1e3},
                                       {"kB", 1e3},
                                       {"KiB", 1024},
                                       {"M", 1e6},
                                       {"MB", 1e6},
                                       {"MiB", 0x1p20},
                                       {"G", 1e9},
                                       {"GB", 1e9},
                                       {"GiB", 0x1p30},
                                       {"TB", 1e12},
                                       {"TiB", 0x1p40}}};
constexpr std::array<Unit, 5> kSeconds{{{"", 1}, {"s", 1}, {"ms", 1e-3}, {"min", 60}, {"h", 3600}}};

template <size_t N>
double parse(const std::string& option, const std::string& text, const std::array<Unit, N>& units,
             double least, double most, const char* expected) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(parsed.ptr,
                              static_cast<size_t>(text.data() + text.size() - parsed.ptr));
  const auto* u =
      std::find_if(units.begin(), units.end(), [&](const Unit& x) { return unit == x.name; });
  if (parsed.ec == std::errc() && u != units.end() && std::isfinite(value)) {
    value *= u->factor;
    if (value >= least && value <= most) return value;
  }
  throw Error(ErrorKind::kUsage, option + " " + text + ": " + expected + " is expected");
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
  constexpr uint64_t kMost = uint64_t{8} << 30;
  struct sysinfo info {};
  if (sysinfo(&info) != 0) return kMost;
  return std::min(kMost, static_cast<uint64_t>(info.totalram) * info.mem_unit / 2);
}

uint64_t parse_bytes(const std::string& option, const std::string& text) {
  return static_cast<uint64_t>(parse(option, text, kBytes, 0x1p20, 0x1p60,
                                     "a size of at least 1 MiB, as in 8GiB or 500MB,"));
}

double parse_seconds(const std::string& option, const std::string& text) {
  return parse(option, text, kSeconds, 1e-3, 1e9, "a time, as in 60, 500ms or 2min,");
}

std::string bytes_text(uint64_t bytes) {
  constexpr std::array<Unit, 3> kUnits{{{" GiB", 0x1p30}, {" MiB", 0x1p20}, {" KiB", 1024}}};
  for (const auto& u : kUnits) {
    if (static_cast<double>(bytes) < u.factor) continue;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f", static_cast<double>(bytes) / u.factor);
    return std::string(text.data()) + u.name;
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

uint64_t own_memory(pid_t process) {
  std::FILE* file = std::fopen(("/proc/" + std::to_string(process) + "/status").c_str(), "re");
  if (!file) return 0;
  std::array<char, 256> line;
  uint64_t total = 0;
  while (std::fgets(line.data(), line.size(), file)) {
    unsigned long kibibytes = 0;
    if (std::sscanf(line.data(), "RssAnon: %lu", &kibibytes) == 1 ||
        std::sscanf(line.data(), "RssShmem: %lu", &kibibytes) == 1) {
      total += uint64_t{kibibytes} * 1024;
    }
  }
  std::fclose(file);
  return total;
}

}  // namespace tmeter::core
