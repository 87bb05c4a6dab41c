#include "code_table.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>

#include "counting.hpp"

namespace param_stats {
namespace {

/// Zeroed tables that wait for their next use, shared by all threads.
class Spare {
 public:
  std::unique_ptr<CodeTable::Counters> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!tables_.empty()) {
        auto table = std::move(tables_.back());
        tables_.pop_back();
        return table;
      }
    }
    return std::make_unique<CodeTable::Counters>();  // value-initialised: zeros
  }
  void give(std::unique_ptr<CodeTable::Counters> table) {
    const std::lock_guard lock(mutex_);
    if (tables_.size() < kKept) tables_.push_back(std::move(table));
  }

 private:
  static constexpr size_t kKept = 16;  // 8 MiB
  std::mutex mutex_;
  std::vector<std::unique_ptr<CodeTable::Counters>> tables_;
};

Spare& spare() {
  static Spare tables;
  return tables;
}

/// Elements that 32-bit counters have room for at once.
constexpr size_t kPiece = size_t{1} << 28;

}  // namespace

CodeTable::CodeTable() : counters_(spare().take()) {}

CodeTable::~CodeTable() {
  for (auto& half : counters_->half)
    if (pending_) half.fill(0);
  try {
    spare().give(std::move(counters_));
  } catch (...) {  // no memory to keep it: it is freed
  }
}

bool CodeTable::any(size_t block) const {
  uint32_t bits = 0;
  for (const auto& half : counters_->half)
    for (size_t i = block; i < block + kBlock; ++i) bits |= half[i];
  if (bits || spilled_.empty()) return bits != 0;
  return std::any_of(spilled_.begin() + static_cast<std::ptrdiff_t>(block),
                     spilled_.begin() + static_cast<std::ptrdiff_t>(block + kBlock),
                     [](uint64_t c) { return c != 0; });
}

void CodeTable::make_room(uint64_t n) {
  if (pending_ + n > std::numeric_limits<uint32_t>::max()) {
    spilled_.resize(kCodes);
    for (auto& half : counters_->half) {
      for (size_t i = 0; i < kCodes; ++i) spilled_[i] += half[i];
      half.fill(0);
    }
    pending_ = 0;
  }
  pending_ += n;
}

void CodeTable::add_words(std::span<const uint8_t> codes) {
  while (codes.size() >= 2) {
    const size_t n = std::min(codes.size() / 2, kPiece);
    make_room(n);
    count_words(codes.data(), n, counters_->half[0].data(), counters_->half[1].data());
    codes = codes.subspan(2 * n);
  }
}

void CodeTable::add(std::span<const uint16_t> codes) {
  add_words({reinterpret_cast<const uint8_t*>(codes.data()), codes.size_bytes()});
}

void CodeTable::merge(const CodeTable& other) {
  make_room(other.pending_);
  auto& mine = counters_->half;
  const auto& theirs = other.counters_->half;
  for (size_t h = 0; h < 2; ++h)
    for (size_t i = 0; i < kCodes; ++i) mine[h][i] += theirs[h][i];
  if (other.spilled_.empty()) return;
  spilled_.resize(kCodes);
  for (size_t i = 0; i < kCodes; ++i) spilled_[i] += other.spilled_[i];
}

}  // namespace param_stats
