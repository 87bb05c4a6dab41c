// Sums of columns, worked out by another thread while this one goes on.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace tmeter::core {

class AddingUp {
 public:
  /// `job(column)` on another thread; what it throws only says that the sums are not there.
  explicit AddingUp(std::function<void(size_t)> job) : job_(std::move(job)) {}
  /// The job at hand ends first; what nobody has begun is left.
  ~AddingUp();
  AddingUp(const AddingUp&) = delete;
  AddingUp& operator=(const AddingUp&) = delete;

  /// Puts a column last, each once. Where no thread can be had it waits for `take`.
  void add(size_t column);
  /// Whether another thread has added it up; one that is at it is waited for. If not, it is the
  /// caller's: nobody else begins it.
  bool take(size_t column);
  /// The last of those that nobody has begun, which is the caller's then.
  std::optional<size_t> take_last();

 private:
  using Lock = std::unique_lock<std::mutex>;
  void start();
  void help();

  const std::function<void(size_t)> job_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<size_t> waiting_;
  std::optional<size_t> at_work_;
  std::vector<size_t> done_;
  bool stop_ = false;
  bool alone_ = false;  // there is no thread
  std::thread helper_;
};

}  // namespace tmeter::core
