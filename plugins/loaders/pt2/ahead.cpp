#include "ahead.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace pt2 {

/// More than two have nothing to do: what is done in order takes half as long as what is not.
unsigned Helping::usual() {
  const unsigned processors = std::thread::hardware_concurrency();
  return processors < 2 ? 0 : std::min(processors - 1, 2U);
}

Ahead::Ahead(size_t items, size_t slots, unsigned helpers, std::function<void(size_t, size_t)> job)
    : items_(items), job_(std::move(job)), slots_(std::max<size_t>(slots, 1)) {
  if (slots_.size() == 1) return;  // who waits uses it
  helpers_.reserve(helpers);
  try {
    for (unsigned i = 0; i < helpers; ++i) helpers_.emplace_back([this] { help(); });
  } catch (const std::system_error&) {
  }
}

Ahead::~Ahead() {
  {
    const Lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (auto& helper : helpers_) helper.join();
}

/// Does the next item, during which the lock is open.
void Ahead::take(Lock& lock) {
  const size_t item = next_++;
  auto& slot = slots_[item % slots_.size()];
  lock.unlock();
  std::exception_ptr error;
  try {
    job_(item, item % slots_.size());
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  slot = {item + 1, error};
  changed_.notify_all();
}

void Ahead::help() {
  Lock lock(mutex_);
  while (!stop_ && next_ < items_) {
    if (can_take()) {
      take(lock);
    } else {
      changed_.wait(lock);
    }
  }
}

size_t Ahead::wait(size_t item) {
  Lock lock(mutex_);
  current_ = item;
  changed_.notify_all();
  auto& slot = slots_[item % slots_.size()];
  while (slot.done != item + 1) {
    if (can_take()) {
      take(lock);  // it, or, when another is at it, one behind it
    } else {
      changed_.wait(lock);
    }
  }
  if (slot.error) std::rethrow_exception(slot.error);
  return item % slots_.size();
}

}  // namespace pt2
