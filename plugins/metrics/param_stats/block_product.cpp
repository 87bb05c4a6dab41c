#include "block_product.hpp"

#include <cmath>
#include <tmeter/cpp/numbers.hpp>

namespace param_stats {
namespace {

constexpr size_t kBlockBytes = size_t{256} << 10;  // of rows that are multiplied together
constexpr int kFarFromOne = 30, kMostScale = 100;  // exponents

}  // namespace

BlockProduct::BlockProduct(const Matrix& a, const std::function<bool()>& stop)
    : a_(a), stop_(stop), stored_(stored_as(a.dtype)) {
  const int exponent = std::ilogb(a.largest);
  if (std::abs(exponent) > kFarFromOne)
    scale_ = static_cast<float>(std::exp2(std::clamp(-exponent, -kMostScale, kMostScale)));
  const auto row_bytes = static_cast<size_t>(a.columns * (stored_ ? a.dtype.bytes() : 4));
  rows_ = static_cast<int64_t>(std::max<size_t>(kBlockBytes / row_bytes, 2));
}

void BlockProduct::apply(Vectors& v, Vectors& y) {
  const auto columns = static_cast<size_t>(a_.columns);
  const size_t size = stored() == Stored::kFloat ? 4 : 2;
  y.clear();
  y.resize(v.count());
  if (scale_ != 1) v.matrix() *= scale_;
  each_block(rows_, [&](const uint8_t* a, int64_t, size_t rows) {
    multiply(a, rows, v);
    for (auto& z : products_) z *= scale_;
    each_tile(columns, [&](size_t j, size_t n) {
      add_block_rows(stored(), a + j * size, rows, n, columns, products_.data(), y.stride(),
                     y.data() + j);
    });
  });
  if (scale_ != 1) v.matrix() /= scale_;
}

Small BlockProduct::squares(Vectors& v) {
  Small sum = Small::Zero(kBlockVectors, kBlockVectors);
  if (scale_ != 1) v.matrix() *= scale_;
  each_block(rows_, [&](const uint8_t* a, int64_t, size_t rows) {
    multiply(a, rows, v);
    const Eigen::Map<const Eigen::MatrixXf> z(products_.data(), kBlockVectors,
                                              static_cast<Eigen::Index>(rows));
    sum += z.cast<double>() * z.transpose().cast<double>();
  });
  if (scale_ != 1) v.matrix() /= scale_;
  const auto count = static_cast<Eigen::Index>(v.count());
  return sum.topLeftCorner(count, count);
}

RowSketch BlockProduct::sketch() {
  RowSketch out(a_.dtype, a_.columns, scale_);
  for (int64_t row = 0; row < a_.rows; row += rows_) {
    check_stop();
    const int64_t n = std::min(rows_, a_.rows - row) * a_.columns;
    out.add(row * a_.columns, a_.read(row * a_.columns, n));
  }
  return out;
}

const uint8_t* BlockProduct::read(int64_t row, int64_t rows) {
  const auto bytes = a_.read(row * a_.columns, rows * a_.columns);
  if (stored_) return bytes.data();
  decoded_.resize(static_cast<size_t>(rows * a_.columns));
  tmeter::decode<float>(a_.dtype, bytes, std::span(decoded_));
  return reinterpret_cast<const uint8_t*>(decoded_.data());
}

/// products_ = A v
void BlockProduct::multiply(const uint8_t* a, size_t rows, const Vectors& v) {
  const auto columns = static_cast<size_t>(a_.columns);
  const size_t size = stored() == Stored::kFloat ? 4 : 2;
  products_.assign(rows * kBlockVectors, 0.f);
  each_tile(columns, [&](size_t j, size_t n) {
    add_block_dots(stored(), a + j * size, rows, n, columns, v.data() + j, v.stride(),
                   products_.data());
  });
}

}  // namespace param_stats
