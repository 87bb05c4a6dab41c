// The order in which two threads make the blocks of a long list and one of them hands the blocks
// over. No more than a few are made and not handed over, so that memory is bounded.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>

namespace json_report {

class BlockOrder {
 public:
  static constexpr size_t kAlive = 4;  // blocks b and b + kAlive are never there together
  explicit BlockOrder(size_t count) : count_(count) {}

  /// What the thread that hands over does next: hand over the block, or make it.
  struct Turn {
    size_t block;
    bool is_made;
  };
  /// Nothing when all are handed over, or once the other thread has stopped.
  std::optional<Turn> turn();
  void handed_over();

  /// The next block for the other thread to make; nothing when there is none left, or after `stop`.
  std::optional<size_t> take();

  /// Either thread: a block that it took is ready.
  void made(size_t block);
  /// Either thread has failed: the other one waits for it no longer.
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

}  // namespace json_report
