#include "core/process/stdio_attribution.hpp"

#include <sys/ioctl.h>

#include <chrono>
#include <mutex>
#include <thread>

namespace tmeter::core {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kMaxAttributionWait = std::chrono::milliseconds(200);
constexpr auto kPause = std::chrono::microseconds(50);

std::mutex one_at_a_time;
int printed_into = -1;

/// The order matters: the supervisor sets its flag before it empties the pipe.
bool is_attributed() {
  int unread = 0;
  const bool is_empty = ioctl(printed_into, FIONREAD, &unread) != 0 || unread == 0;
  return is_empty && !activity().is_listening;
}

bool becomes_attributed() {
  for (const auto until = Clock::now() + kMaxAttributionWait; !is_attributed();
       std::this_thread::sleep_for(kPause)) {
    if (Clock::now() > until) return false;
  }
  return true;
}

}  // namespace

void set_stdio_pipe(int fd) { printed_into = fd; }

void attribute_stdio_to(std::string_view plugin) {
  if (plugin.empty()) return;
  const std::lock_guard lock(one_at_a_time);
  auto& speaker = activity().speaker;
  if (speaker.is(plugin)) return;
  if (printed_into >= 0 && !becomes_attributed()) printed_into = -1;
  speaker.set(plugin);
}

}  // namespace tmeter::core
