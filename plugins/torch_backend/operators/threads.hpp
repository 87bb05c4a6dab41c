// How many threads can run. LibTorch's runtime ends the process if a thread does not start.
#pragma once
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tmeter::torch_backend {

/// How many of `wanted` threads can run at once, this one included. Starts them and joins them.
inline int threads_that_start(unsigned wanted) {
  std::vector<std::thread> threads;
  std::mutex all_started;
  {
    const std::lock_guard wait(all_started);
    try {
      while (threads.size() + 1 < wanted)
        threads.emplace_back([&] { const std::lock_guard until(all_started); });
    } catch (const std::system_error&) {  // the limit is reached
    }
  }
  for (auto& thread : threads) thread.join();
  return static_cast<int>(threads.size()) + 1;
}

}  // namespace tmeter::torch_backend
