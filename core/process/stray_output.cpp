#include "core/process/stray_output.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/process/activity.hpp"

namespace tmeter::core {
namespace {

constexpr size_t kMostLines = 20, kLongestLine = 2000;

}  // namespace

bool StrayOutput::read(int fd, Terminal& terminal) {
  const ssize_t n = take(fd, terminal);
  return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

ssize_t StrayOutput::take(int fd, Terminal& terminal) {
  std::array<char, 4096> buffer;
  const ssize_t n = ::read(fd, buffer.data(), buffer.size());
  for (ssize_t i = 0; i < n; ++i) {
    if (buffer[static_cast<size_t>(i)] == '\n' || pending_.size() >= kLongestLine) {
      show(pending_, terminal);
      pending_.clear();
    }
    if (buffer[static_cast<size_t>(i)] != '\n') pending_ += buffer[static_cast<size_t>(i)];
  }
  return n;
}

void StrayOutput::finish(int fd, Terminal& terminal) {
  while (take(fd, terminal) > 0) {
  }
  if (!pending_.empty()) show(pending_, terminal);
  pending_.clear();
  if (!quiet_ && lines_ > kMostLines) {
    terminal.message("note: " + std::to_string(lines_ - kMostLines) +
                     " more lines were printed by plugins");
  }
}

void StrayOutput::show(const std::string& line, Terminal& terminal) {
  if (quiet_ || line.empty() || ++lines_ > kMostLines) return;
  const auto plugin = activity().slots[0].plugin.text();
  terminal.message("note: printed by " + (plugin.empty() ? "a plugin" : plugin) + ": " + line);
}

}  // namespace tmeter::core
