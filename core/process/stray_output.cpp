#include "core/process/stray_output.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "core/process/stdio_attribution.hpp"

namespace tmeter::core {
namespace {

constexpr size_t kMaxLines = 20, kMaxLineBytes = 2000;

}  // namespace

bool StrayOutput::read(int fd, Terminal& terminal) {
  const ssize_t n = take(fd, terminal);
  return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

ssize_t StrayOutput::take(int fd, Terminal& terminal) {
  const StdioAttribution listening;
  std::array<char, 4096> buffer;
  const ssize_t n = ::read(fd, buffer.data(), buffer.size());
  if (n > 0) switch_speaker(activity().speaker.text(), terminal);
  for (ssize_t i = 0; i < n; ++i) {
    const char c = buffer[static_cast<size_t>(i)];
    if (c == '\n' || pending_.size() >= kMaxLineBytes) end_line(terminal);
    if (c != '\n') pending_ += c;
  }
  return n;
}

void StrayOutput::finish(int fd, Terminal& terminal) {
  while (take(fd, terminal) > 0) {
  }
  end_line(terminal);
  if (!quiet_ && lines_ > kMaxLines) {
    terminal.message("note: " + std::to_string(lines_ - kMaxLines) +
                     " more lines were printed by plugins");
  }
}

void StrayOutput::switch_speaker(const std::string& speaker, Terminal& terminal) {
  if (speaker == speaker_) return;
  end_line(terminal);
  speaker_ = speaker;
}

void StrayOutput::end_line(Terminal& terminal) {
  const auto line = std::exchange(pending_, {});
  if (quiet_ || line.empty() || ++lines_ > kMaxLines) return;
  terminal.message("note: printed by " + (speaker_.empty() ? "a plugin" : speaker_) + ": " + line);
}

}  // namespace tmeter::core
