// Schedules the blocks of a long list: two threads make them, and one of the two writes them in
// order. At most kAlive finished blocks wait, which bounds the memory.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>

namespace json_report {

class BlockOrder {
 public:
  static constexpr size_t kAlive = 4;  // blocks b and b + kAlive never exist at the same time
  explicit BlockOrder(size_t count) : count_(count) {}

  /// The next step of the thread that hands over: hand over the block if it is made, else make it.
  struct Step {
    size_t block;
    bool is_made;
  };
  /// Empty if all blocks are handed over, or the other thread has stopped.
  std::optional<Step> next_step();
  void handed_over();

  /// The next block for the other thread to make; empty if none is left, or after `stop`.
  std::optional<size_t> take();

  /// Called by the thread that took the block: it is ready.
  void made(size_t block);
  /// Called by a thread that failed: the other one must not wait for it.
  void stop();
  struct Stop {
    explicit Stop(BlockOrder& o) : order(o) {}
    ~Stop() { order.stop(); }
    Stop(const Stop&) = delete;
    Stop& operator=(const Stop&) = delete;
    BlockOrder& order;
  };

 private:
  bool may_take() const { return next_ < count_ && next_ < handed_ + kAlive; }

  std::mutex mutex_;
  std::condition_variable changed_;
  const size_t count_;
  size_t next_ = 0, handed_ = 0;
  bool made_[kAlive] = {};
  bool stopped_ = false;
};

inline std::optional<BlockOrder::Step> BlockOrder::next_step() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] {
    return stopped_ || handed_ == count_ || made_[handed_ % kAlive] || may_take();
  });
  if (stopped_ || handed_ == count_) return std::nullopt;
  if (made_[handed_ % kAlive]) return Step{handed_, true};
  return Step{next_++, false};
}

inline void BlockOrder::handed_over() {
  const std::lock_guard lock(mutex_);
  made_[handed_ % kAlive] = false;
  ++handed_;
  changed_.notify_all();
}

inline std::optional<size_t> BlockOrder::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopped_ || next_ == count_ || may_take(); });
  if (stopped_ || next_ == count_) return std::nullopt;
  return next_++;
}

inline void BlockOrder::made(size_t block) {
  const std::lock_guard lock(mutex_);
  made_[block % kAlive] = true;
  changed_.notify_all();
}

inline void BlockOrder::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

}  // namespace json_report
