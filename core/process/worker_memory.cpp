#include "core/process/worker_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/descriptor.hpp"
#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

/// The content of a file of /proc, at most one MiB.
std::string text_of(const std::string& path) {
  constexpr size_t kMaxStatusBytes = size_t{1} << 20;
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 4096> buffer;
  while (file.get() >= 0 && text.size() < kMaxStatusBytes) {
    const ssize_t n = read(file.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(buffer.data(), static_cast<size_t>(n));
  }
  return text;
}

uint64_t leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// "VmPTE:      44 kB"
uint64_t field(std::string_view status, std::string_view name) {
  const auto at = status.find(name);
  return at == status.npos ? 0 : leading_number(status.substr(at + name.size())) * 1024;
}

/// Segments by their creator. An attached segment is counted again among the shared pages, which
/// does no harm: a worker has no use for segments.
uint64_t system_v_memory(pid_t process) {
  const auto lines = split(text_of("/proc/sysvipc/shm"), "\n");
  if (lines.size() < 2) return 0;
  const auto place = [names = split(lines[0], " ")](std::string_view name) {
    return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  const size_t maker = place("cpid"), resident = place("rss"), swapped = place("swap");
  uint64_t total = 0;
  for (size_t i = 1; i < lines.size(); ++i) {
    const auto words = split(lines[i], " ");
    if (words.size() <= std::max({maker, resident, swapped})) continue;
    if (leading_number(words[maker]) == static_cast<uint64_t>(process))
      total += leading_number(words[resident]) + leading_number(words[swapped]);
  }
  return total;
}

}  // namespace

uint64_t worker_memory(pid_t process) {
  const auto status = text_of("/proc/" + std::to_string(process) + "/status");
  if (status.empty()) return 0;
  uint64_t total = 0;
  for (const char* name : {"\nRssAnon:", "\nRssShmem:", "\nVmPTE:", "\nVmSwap:"})
    total += field(status, name);
  return total + system_v_memory(process);
}

}  // namespace tmeter::core
