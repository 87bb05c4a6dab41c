// Work on items one after the other, done by other threads ahead of who uses the results in the
// order of the items. How the work is shared out decides nothing but the time: each item is done
// alone, and what goes wrong is told when it is that item's turn.
#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace pt2 {

/// Whether others help with a text of this size: a thread takes as long to start as some hundred
/// kilobytes to read.
struct Helping {
  size_t least = size_t{4} << 20;  // bytes
  unsigned helpers = usual();

  static unsigned usual();
};

class Ahead {
 public:
  /// `job(item, slot)`: on any thread, for each item once. What it leaves in a slot is used before
  /// the slot serves another item, so there is never more than what fits them. Where no thread can
  /// be had, everything is done by who waits for it.
  Ahead(size_t items, size_t slots, unsigned helpers, std::function<void(size_t, size_t)> job);
  /// Jobs that have begun end first.
  ~Ahead();
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  /// The slot of an item whose job is done: to be called for all items in order, the result of one
  /// being used before the next is asked for. Throws what the job threw.
  size_t wait(size_t item);

 private:
  struct Slot {
    size_t done = 0;  // item plus one
    std::exception_ptr error;
  };
  using Lock = std::unique_lock<std::mutex>;

  bool can_take() const { return next_ < items_ && next_ < current_ + slots_.size(); }
  void take(Lock& lock);
  void help();

  const size_t items_;
  const std::function<void(size_t, size_t)> job_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  size_t next_ = 0;     // the first that nobody has taken
  size_t current_ = 0;  // the one whose result is used
  bool stop_ = false;
  std::vector<std::thread> helpers_;
};

}  // namespace pt2
