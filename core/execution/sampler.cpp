#include "core/execution/sampler.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace tmeter::core {

Sampler::Sampler(std::vector<Task> tasks) : tasks_(std::move(tasks)) {
  if (!tasks_.empty()) thread_ = std::thread([this] { work(); });
}

Sampler::~Sampler() { stop(); }

void Sampler::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Sampler::finish() {
  stop();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Sampler::work() {
  std::vector<Clock::time_point> next(tasks_.size(), Clock::now());
  std::unique_lock lock(mutex_);
  while (!stop_) {
    lock.unlock();
    try {
      for (size_t i = 0; i < tasks_.size(); ++i) {
        if (Clock::now() < next[i]) continue;
        tasks_[i].sample();
        // missed samples are skipped
        next[i] = std::max(next[i] + tasks_[i].interval, Clock::now());
      }
    } catch (...) {
      error_ = std::current_exception();
      return;
    }
    lock.lock();
    wake_.wait_until(lock, *std::min_element(next.begin(), next.end()), [&] { return stop_; });
  }
}

}  // namespace tmeter::core
