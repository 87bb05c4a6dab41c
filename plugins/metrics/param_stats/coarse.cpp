#include "coarse.hpp"

#include <array>
#include <atomic>
#include <cmath>

namespace param_stats {
namespace {

constexpr int64_t kLeastCoarseSide = 512;
constexpr size_t kMostCoarseBytes = size_t{64} << 20;    // of all copies at a time, and of one
constexpr size_t kCoarseBlockBytes = size_t{256} << 10;  // multiplied together
constexpr double kNothingBeside = 1e-12;                 // the largest number

std::atomic<size_t> copied{0};

bool take(size_t bytes) {
  if (copied.fetch_add(bytes) + bytes <= kMostCoarseBytes) return true;
  copied.fetch_sub(bytes);
  return false;
}

uint64_t mixed(uint64_t z) {  // splitmix64's
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// kCoarsePiece of these from anywhere in the first kCoarsePiece on: kCoarseZero, and up to 1 more.
const float* random_numbers() {
  static const auto kNumbers = [] {
    std::array<float, 2 * kCoarsePiece> x;
    for (size_t i = 0; i < x.size(); ++i)
      x[i] =
          kCoarseZero + static_cast<float>(mixed((i + 1) * 0x9e3779b97f4a7c15u) >> 48) * 0x1p-16f;
    return x;
  }();
  return kNumbers.data();
}

size_t up_to(size_t n, size_t step) { return (n + step - 1) / step * step; }

}  // namespace

std::unique_ptr<Coarse> Coarse::of(BlockProduct& a) {
  const auto* kernels = coarse_kernels();
  const auto rows = a.matrix().rows, columns = a.matrix().columns;
  if (!kernels || std::min(rows, columns) < kLeastCoarseSide || a.scale() != 1) return nullptr;
  const auto most = static_cast<int64_t>(kMostCoarseColumns);
  if (columns > most || rows > static_cast<int64_t>(kMostCoarseBytes) / columns) return nullptr;
  return std::unique_ptr<Coarse>(new Coarse(a, *kernels));
}

Coarse::Coarse(BlockProduct& a, const CoarseKernels& kernels)
    : a_(a),
      kernels_(kernels),
      columns_(static_cast<size_t>(a.matrix().columns)),
      pitch_(up_to(columns_, kCoarseStep)),
      block_rows_(std::max(kCoarseBlockBytes / pitch_ / kCoarseRows, size_t{1}) * kCoarseRows),
      scales_(up_to(static_cast<size_t>(a.matrix().rows), kCoarseRows)),
      vectors_(kBlockVectors * pitch_),
      weights_(block_rows_ * kBlockVectors),
      products_(block_rows_ * kBlockVectors) {
  const size_t all = scales_.size() * pitch_;
  if (take(all)) kept_ = all;
  bytes_ = std::make_unique_for_overwrite<uint8_t[]>(kept_ ? kept_ : block_rows_ * pitch_);
  a.each_block(static_cast<int64_t>(block_rows_),
               [&](const uint8_t* numbers, int64_t first, size_t rows) {
                 const auto row = static_cast<size_t>(first);
                 set_scales(numbers, row, rows);
                 if (kept_) make(numbers, row, rows, &bytes_[row * pitch_]);
               });
  set_noise();
}

Coarse::~Coarse() { copied.fetch_sub(kept_); }

/// Rounding up or down adds a number of variance p (1 - p), a sixth on average, of steps' squares.
/// Gordon's bound for the norm of a matrix of such numbers.
void Coarse::set_noise() {
  double squares = 0, most = 0;
  for (const float s : scales_) {
    const double variance = static_cast<double>(s) * static_cast<double>(s) / 6;
    squares += variance;
    most = std::fmax(most, variance);
  }
  noise_ = std::sqrt(squares) + std::sqrt(most * static_cast<double>(columns_));
}

void Coarse::set_scales(const uint8_t* numbers, size_t row, size_t rows) {
  const size_t row_bytes = columns_ * (a_.stored() == Stored::kFloat ? 4 : 2);
  for (size_t r = 0; r < rows; ++r) {
    const float most = kernels_.largest(a_.stored(), numbers + r * row_bytes, columns_);
    // A row so small beside others counts as zeros: what its scale is divided by must be finite.
    const bool counts = static_cast<double>(most) > kNothingBeside * a_.matrix().largest;
    scales_[row + r] = counts ? most / kCoarseMost : 0;
  }
}

void Coarse::make(const uint8_t* numbers, size_t row, size_t rows, uint8_t* out) const {
  const size_t size = a_.stored() == Stored::kFloat ? 4 : 2;
  for (size_t r = 0; r < rows; ++r, out += pitch_) {
    const float scale = scales_[row + r], times = scale > 0 ? 1 / scale : 0;
    for (size_t j = 0; j < columns_; j += kCoarsePiece) {
      const auto from = mixed((row + r) * 0x9e3779b97f4a7c15u + j) % kCoarsePiece;
      kernels_.bytes(a_.stored(), numbers + (r * columns_ + j) * size,
                     std::min(kCoarsePiece, columns_ - j), times, random_numbers() + from, out + j);
    }
    const size_t end = up_to(columns_, kBlockStep);
    std::fill(out + end, out + pitch_, static_cast<uint8_t>(kCoarseZero));
  }
  std::fill_n(out, (up_to(rows, kCoarseRows) - rows) * pitch_, static_cast<uint8_t>(kCoarseZero));
}

void Coarse::apply(const Vectors& v, Vectors& y) {
  set_vectors(v);
  y.clear();
  y.resize(v.count());
  const auto all = static_cast<size_t>(a_.matrix().rows);
  if (!kept_) {
    a_.each_block(static_cast<int64_t>(block_rows_),
                  [&](const uint8_t* numbers, int64_t row, size_t rows) {
                    make(numbers, static_cast<size_t>(row), rows, bytes_.get());
                    multiply(bytes_.get(), static_cast<size_t>(row), rows, y);
                  });
    return;
  }
  for (size_t row = 0; row < all; row += block_rows_) {
    a_.check_stop();
    multiply(&bytes_[row * pitch_], row, std::min(block_rows_, all - row), y);
  }
}

void Coarse::set_vectors(const Vectors& v) {
  for (size_t k = 0; k < kBlockVectors; ++k) {
    const float* numbers = v.data() + k * v.stride();
    float most = 0;
    for (size_t j = 0; j < v.stride(); ++j) most = std::max(most, std::fabs(numbers[j]));
    const float scale = most / kCoarseMost;
    vector_scales_[k] = scale;
    vector_sums_[k] =
        kernels_.rounded(numbers, v.stride(), scale > 0 ? 1 / scale : 0, &vectors_[k * pitch_]);
  }
}

void Coarse::multiply(const uint8_t* a, size_t row, size_t rows, Vectors& y) {
  const size_t padded = up_to(rows, kCoarseRows);
  kernels_.dots(a, padded, pitch_, vectors_.data(), vector_sums_.data(), products_.data());
  set_weights(row, padded);
  kernels_.rows(a, padded, pitch_, weights_.data(), weight_sums_.data(), weight_scales_.data(),
                y.stride(), y.data());
}

/// The products as bytes, each times its row's scale twice: that of A and of A^T.
void Coarse::set_weights(size_t row, size_t rows) {
  for (size_t k = 0; k < kBlockVectors; ++k) {
    const auto weight = [&](size_t r) {
      const float scale = scales_[row + r];
      return static_cast<float>(products_[r * kBlockVectors + k]) * scale * scale;
    };
    float most = 0;
    for (size_t r = 0; r < rows; ++r) most = std::max(most, std::fabs(weight(r)));
    const float scale = most / kCoarseMost, times = scale > 0 ? 1 / scale : 0;
    weight_sums_[k] = 0;
    for (size_t r = 0; r < rows; ++r) {
      const auto x = static_cast<int32_t>(std::lrint(weight(r) * times));
      weight_sums_[k] += x;
      weights_[r / kCoarseRows * kCoarseRows * kBlockVectors + k * kCoarseRows + r % kCoarseRows] =
          static_cast<int8_t>(x);
    }
    weight_scales_[k] = scale * vector_scales_[k];
  }
}

}  // namespace param_stats
