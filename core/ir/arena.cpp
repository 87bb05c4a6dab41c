#include "core/ir/arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>

namespace tmeter::core {
namespace {

constexpr size_t kFirstBlock = size_t{1} << 16, kLargestBlock = size_t{1} << 26;
constexpr size_t kStep = size_t{1} << 18;   // what is cleared at once
constexpr size_t kAhead = size_t{1} << 21;  // at most, before it is needed
constexpr size_t kPage = 4096;
#ifdef MADV_POPULATE_WRITE
constexpr int kMakeReady = MADV_POPULATE_WRITE;
#else
constexpr int kMakeReady = 23;  // Linux 5.14; older ones refuse it
#endif

char* aligned(char* at, size_t to) {
  const auto bits = reinterpret_cast<uintptr_t>(at);
  return at + ((bits + to - 1) / to * to - bits);
}

}  // namespace

class Arena::Helper {
 public:
  Helper() : thread_([this] { run(); }) {}
  ~Helper() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  /// The block that ends at `end` is used up to `at`.
  void tell(char* at, char* end) {
    {
      const std::lock_guard lock(mutex_);
      if (end != end_) next_ = nullptr;
      end_ = end;
      next_ = std::max(next_, at);
      until_ = at + std::min(kAhead, static_cast<size_t>(end - at));
    }
    changed_.notify_all();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      if (next_ >= until_) {
        changed_.wait(lock);
        continue;
      }
      char* const begin = aligned(next_, kPage);
      char* const end = begin + std::min(kStep, static_cast<size_t>(std::max(until_ - begin, {})));
      next_ = std::max(begin, end);
      lock.unlock();
      const auto whole = begin < end ? static_cast<size_t>(end - begin) / kPage * kPage : 0;
      const bool is_known = whole == 0 || madvise(begin, whole, kMakeReady) == 0;
      lock.lock();
      if (!is_known) stop_ = true;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  char *next_ = nullptr, *until_ = nullptr, *end_ = nullptr;
  bool stop_ = false;
  std::thread thread_;
};

Arena::Arena(size_t large) : large_(large) {}
Arena::~Arena() = default;

void Arena::stop_helping() {
  helper_.reset();
  may_help_ = false;
}

bool Arena::owns(const void* at, size_t bytes) const {
  const auto address = reinterpret_cast<uintptr_t>(at);
  if (address % alignof(void*) != 0) return false;
  return std::any_of(blocks_.begin(), blocks_.end(), [&](const Block& b) {
    const auto begin = reinterpret_cast<uintptr_t>(b.bytes.get());
    return address >= begin && bytes <= b.size && address - begin <= b.size - bytes;
  });
}

void* Arena::do_allocate(size_t bytes, size_t alignment) {
  char* const begin = aligned(at_, alignment);
  if (begin <= step_ && static_cast<size_t>(step_ - begin) >= bytes && at_) {
    at_ = begin + bytes;
    return begin;
  }
  return allocate_further(bytes, alignment);
}

void* Arena::allocate_further(size_t bytes, size_t alignment) {
  char* begin = aligned(at_, alignment);
  if (!at_ || begin > end_ || static_cast<size_t>(end_ - begin) < bytes) {
    begin_block(bytes + alignment);
    begin = aligned(at_, alignment);
  }
  at_ = begin + bytes;
  begin_step(at_);
  return begin;
}

void Arena::begin_block(size_t bytes) {
  const auto size = std::max(bytes, std::clamp(size_, kFirstBlock, kLargestBlock));
  blocks_.push_back({std::make_unique_for_overwrite<char[]>(size), size});
  size_ += size;
  at_ = blocks_.back().bytes.get();
  end_ = at_ + size;
  if (size_ < large_ || helper_ || !may_help_) return;
  may_help_ = false;
  if (std::thread::hardware_concurrency() < 2) return;
  try {
    helper_ = std::make_unique<Helper>();
  } catch (const std::system_error&) {  // then without
  }
}

/// The next are those behind `at`.
void Arena::begin_step(char* at) {
  step_ = helper_ ? at + std::min(kStep, static_cast<size_t>(end_ - at)) : end_;
  if (helper_) helper_->tell(at, end_);
}

}  // namespace tmeter::core
