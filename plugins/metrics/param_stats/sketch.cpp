#include "sketch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tmeter/cpp/numbers.hpp>

namespace param_stats {
namespace {

constexpr size_t kMostSums = 32, kNumbers = size_t{1} << 17;  // 512 KiB
constexpr int64_t kTogether = 16;  // rows beside each other that go to the same four sums

/// From 1/2 to 1, of either sign: rows that are alike cannot cancel each other. splitmix64, the
/// same on every machine.
float factor_of(int64_t row, size_t sum) {
  uint64_t z = (static_cast<uint64_t>(row) * kBlockVectors + sum + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  const float x = static_cast<float>((z ^ (z >> 31)) >> 40) * 0x1p-24f - 0.5f;
  return x + std::copysign(0.5f, x);
}

}  // namespace

std::optional<Stored> stored_as(tmeter::DType type) {
  switch (type.id()) {
    case TMETER_DTYPE_FLOAT32:
      return Stored::kFloat;
    case TMETER_DTYPE_FLOAT16:
      return Stored::kHalf;
    case TMETER_DTYPE_BFLOAT16:
      return Stored::kBrain;
    default:
      return std::nullopt;
  }
}

RowSketch::RowSketch(tmeter::DType type, int64_t columns, float scale)
    : stored_(stored_as(type)),
      type_(type),
      size_(stored_ && *stored_ != Stored::kFloat ? 2 : 4),
      columns_(static_cast<size_t>(columns)),
      stride_((columns_ + kBlockStep - 1) / kBlockStep * kBlockStep),
      sums_(
          std::clamp(kNumbers / stride_ / kBlockVectors * kBlockVectors, kBlockVectors, kMostSums)),
      scale_(scale),
      numbers_(sums_ * stride_) {}

void RowSketch::add(int64_t first, std::span<const uint8_t> elements) {
  size_t count = elements.size() / static_cast<size_t>(type_.bytes());
  const uint8_t* at = elements.data();
  if (!stored_) {
    decoded_.resize(count);
    tmeter::decode<float>(type_, elements, std::span(decoded_));
    at = reinterpret_cast<const uint8_t*>(decoded_.data());
  }
  int64_t row = first / static_cast<int64_t>(columns_);
  auto column = static_cast<size_t>(first % static_cast<int64_t>(columns_));
  while (count > 0) {
    const bool whole = column == 0 && count >= columns_;
    const auto left = static_cast<size_t>(kTogether - row % kTogether);
    const size_t rows = whole ? std::min(count / columns_, left) : 1;
    const size_t columns = whole ? columns_ : std::min(count, columns_ - column);
    add_rows(row, whole ? at : among_zeros(at, column, columns), rows);
    at += rows * columns * size_;
    count -= rows * columns;
    column = (column + columns) % columns_;
    row += static_cast<int64_t>(column == 0 ? rows : 0);
  }
}

/// A row of zeros but for a piece of it.
const uint8_t* RowSketch::among_zeros(const uint8_t* at, size_t column, size_t columns) {
  row_.assign(columns_ * size_, 0);
  std::copy_n(at, columns * size_, &row_[column * size_]);
  return row_.data();
}

void RowSketch::add_rows(int64_t row, const uint8_t* at, size_t rows) {
  std::array<float, kTogether * kBlockVectors> factors;
  for (size_t r = 0; r < rows; ++r)
    for (size_t k = 0; k < kBlockVectors; ++k)
      factors[r * kBlockVectors + k] = scale_ * factor_of(row + static_cast<int64_t>(r), k);
  const auto turn = static_cast<size_t>(row / kTogether) % (sums_ / kBlockVectors);
  float* y = numbers_.data() + turn * kBlockVectors * stride_;
  each_tile(columns_, [&](size_t j, size_t n) {
    add_block_rows(stored_.value_or(Stored::kFloat), at + j * size_, rows, n, columns_,
                   factors.data(), stride_, y + j);
  });
}

void RowSketch::merge(const RowSketch& other) {
  for (size_t i = 0; i < numbers_.size(); ++i) numbers_[i] += other.numbers_[i];
}

std::vector<float> RowSketch::gram() const {
  std::vector<float> out(sums_ * sums_), z(sums_ * kBlockVectors);
  for (size_t k = 0; k < sums_; k += kBlockVectors) {
    std::fill(z.begin(), z.end(), 0.f);
    const float* v = data() + k * stride_;
    each_tile(stride_, [&](size_t j, size_t n) {
      add_block_dots(Stored::kFloat, data() + j, sums_, n, stride_, v + j, stride_, z.data());
    });
    for (size_t i = 0; i < sums_; ++i)
      std::copy_n(&z[i * kBlockVectors], kBlockVectors, &out[i * sums_ + k]);
  }
  return out;
}

}  // namespace param_stats
