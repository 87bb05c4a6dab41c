#include "core/analysis/adding_up.hpp"

#include <algorithm>
#include <system_error>

namespace tmeter::core {

AddingUp::~AddingUp() {
  {
    const Lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (helper_.joinable()) helper_.join();
}

void AddingUp::start() {
  if (alone_ || helper_.joinable()) return;
  try {
    helper_ = std::thread([this] { help(); });
  } catch (const std::system_error&) {
    alone_ = true;
  }
}

void AddingUp::add(size_t column) {
  start();
  {
    const Lock lock(mutex_);
    waiting_.push_back(column);
  }
  changed_.notify_all();
}

bool AddingUp::take(size_t column) {
  Lock lock(mutex_);
  const auto at = std::find(waiting_.begin(), waiting_.end(), column);
  if (at != waiting_.end()) {
    waiting_.erase(at);
    return false;
  }
  changed_.wait(lock, [&] { return at_work_ != column; });
  return std::find(done_.begin(), done_.end(), column) != done_.end();
}

std::optional<size_t> AddingUp::take_last() {
  const Lock lock(mutex_);
  if (waiting_.empty()) return std::nullopt;
  const size_t column = waiting_.back();
  waiting_.pop_back();
  return column;
}

void AddingUp::help() {
  Lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    const size_t column = waiting_.front();
    waiting_.pop_front();
    at_work_ = column;
    lock.unlock();
    bool well = true;
    try {
      job_(column);
    } catch (...) {
      well = false;  // it fails again where it is needed, and is told there
    }
    lock.lock();
    at_work_.reset();
    if (well) done_.push_back(column);
    changed_.notify_all();
  }
}

}  // namespace tmeter::core
