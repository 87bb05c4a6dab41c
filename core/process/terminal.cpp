#include "core/process/terminal.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.hpp"
#include "core/base/output_file.hpp"
#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

/// A message that is longer is cut: no user reads on, and the file may have made it.
constexpr size_t kLongestMessage = 4000;

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      throw Error(write_failure(errno),
                  std::string("standard output cannot be written: ") + std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace

void Terminal::message(std::string_view line) {
  if (!said_.emplace(line).second) return;
  progress_.clear();
  const auto text = "tmeter: " + visible(line, kLongestMessage) + "\n";
  try {
    write_all(STDERR_FILENO, text);
  } catch (const Error&) {  // nobody hears it
  }
}

void Terminal::progress(uint64_t done, uint64_t total, std::string_view unit) {
  progress_.update(done, total, visible(unit, 16));
}

void Terminal::output(std::string_view bytes) {
  if (isatty(STDOUT_FILENO) == 1) {
    write_all(STDOUT_FILENO, harmless_on_terminal(bytes));
  } else {
    write_all(STDOUT_FILENO, bytes);
  }
}

}  // namespace tmeter::core
