#include "blocks.hpp"

namespace json_report {

std::optional<BlockOrder::Turn> BlockOrder::turn() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] {
    return stopped_ || handed_ == count_ || made_[handed_ % kAlive] || may_take();
  });
  if (stopped_ || handed_ == count_) return std::nullopt;
  if (made_[handed_ % kAlive]) return Turn{handed_, true};
  return Turn{next_++, false};
}

void BlockOrder::handed_over() {
  const std::lock_guard lock(mutex_);
  made_[handed_ % kAlive] = false;
  ++handed_;
  changed_.notify_all();
}

std::optional<size_t> BlockOrder::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopped_ || next_ == count_ || may_take(); });
  if (stopped_ || next_ == count_) return std::nullopt;
  return next_++;
}

void BlockOrder::made(size_t block) {
  const std::lock_guard lock(mutex_);
  made_[block % kAlive] = true;
  changed_.notify_all();
}

void BlockOrder::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

}  // namespace json_report
