#include "core/process/event_loop.hpp"

#include <poll.h>

#include <algorithm>

namespace tmeter::core {

void wait_for(const std::vector<PolledDescriptor>& watched, Clock::time_point until) {
  constexpr auto kMaxWait = std::chrono::minutes(1);  // fits into poll's milliseconds
  std::vector<pollfd> fds;
  fds.reserve(watched.size());
  for (const auto& w : watched) fds.push_back({w.fd, w.events, 0});
  const auto left =
      std::clamp<Clock::duration>(until - Clock::now(), Clock::duration::zero(), kMaxWait);
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  if (poll(fds.data(), fds.size(), static_cast<int>(milliseconds)) <= 0) return;
  for (size_t i = 0; i < fds.size(); ++i)
    if (fds[i].revents) watched[i].on_ready();
}

Clock::time_point in_seconds(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace tmeter::core
