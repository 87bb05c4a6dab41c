// A thread that calls functions at intervals while it lives.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tmeter::core {

class Sampler {
 public:
  using Clock = std::chrono::steady_clock;
  struct Task {
    Clock::duration interval;
    /// Called on the sampler's thread. An exception ends the sampling, and `finish` rethrows it.
    std::function<void()> sample;
  };
  /// Starts no thread without tasks. Throws std::system_error.
  explicit Sampler(std::vector<Task> tasks);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Ends the sampling; rethrows a task's exception.
  void finish();

 private:
  void work();
  void stop();

  std::vector<Task> tasks_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace tmeter::core
