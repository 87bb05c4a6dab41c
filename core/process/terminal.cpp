#include "core/process/terminal.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <tmeter/cpp/text_hash.hpp>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/output_file.hpp"
#include "core/base/text.hpp"
#include "core/process/event_loop.hpp"

namespace tmeter::core {
namespace {

/// A message that is longer is cut: no user reads on, and the file may have made it.
constexpr size_t kMaxMessageBytes = 4000;
constexpr size_t kMaxWaiting = size_t{1} << 20;

}  // namespace

Terminal::Terminal(bool progress) : writer_(STDERR_FILENO), progress_(progress) {}

Terminal::~Terminal() {
  clear_progress();
  while (pending()) {
    wait_for({{fd(), POLLOUT, [this] { flush(); }}}, Clock::time_point::max());
  }
}

void Terminal::message(std::string_view line) {
  if (shown_.contains(TextHash()(line))) return;
  if (shown_.size() >= kMaxMessages || waiting_.size() > kMaxWaiting) {
    ++suppressed_;
    return;
  }
  shown_.insert(TextHash()(line));
  show(line);
}

void Terminal::last_message(std::string_view line) {
  report_suppressed();
  if (shown_.insert(TextHash()(line)).second) show(line);
}

void Terminal::report_suppressed() {
  if (const auto count = std::exchange(suppressed_, 0))
    show("note: " + std::to_string(count) + " more messages are not shown");
}

void Terminal::show(std::string_view line) {
  clear_progress();
  add("tmeter: " + visible(line, kMaxMessageBytes) + "\n");
}

void Terminal::progress(uint64_t done, uint64_t total, std::string_view unit) {
  if (pending()) return;  // the terminal is held up
  if (const auto line = progress_.update(done, total, visible(unit, 16))) add(*line);
}

void Terminal::clear_progress() { add(progress_.clear()); }

void Terminal::add(std::string_view bytes) {
  waiting_ += bytes;
  flush();
}

void Terminal::flush() {
  for (;;) {
    if (!writer_.pending()) {
      if (waiting_.empty()) return;
      writer_.put(std::exchange(waiting_, {}));
    }
    pollfd ready{fd(), POLLOUT, 0};
    if (poll(&ready, 1, 0) == 0) return;
    if (!writer_.flush()) return give_up();  // the reader is gone
  }
}

void Terminal::give_up() {
  waiting_.clear();
  writer_.put({});
}

void Terminal::output(std::string_view bytes) {
  StreamWriter out(STDOUT_FILENO);
  out.put(out.is_terminal() ? terminal_safe(bytes) : std::string(bytes));
  while (out.pending()) {
    bool fine = true;
    wait_for({{out.fd(), POLLOUT, [&] { fine = out.flush(); }}}, Clock::time_point::max());
    if (!fine)
      throw Error(write_failure(errno),
                  std::string("standard output cannot be written: ") + std::strerror(errno));
  }
}

}  // namespace tmeter::core
