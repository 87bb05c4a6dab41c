#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix_kernels.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

#include <array>

#include "spectrum.hpp"

HWY_BEFORE_NAMESPACE();
namespace param_stats::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most 8 lanes, so that two vectors fit kGramStep.
using Doubles = hn::CappedTag<double, kGramStep / 2>;
using Vector = hn::Vec<Doubles>;

/// Rows of the Gram matrix that are summed together; more rows read less from L2, but registers
/// limit them.
#if HWY_TARGET <= HWY_AVX3
constexpr size_t kTileRows = 8;
#else
constexpr size_t kTileRows = 4;
#endif
static_assert(kGramStep % kTileRows == 0);

/// Rows [i, i + kTileRows) and columns [j, j + 2 vectors) of the Gram matrix, kept in registers.
HWY_INLINE void gram_tile(const double* HWY_RESTRICT p, size_t rows, size_t stride, size_t i,
                          size_t j, double* HWY_RESTRICT gram) {
  const Doubles d;
  const size_t n = hn::Lanes(d);
  Vector left[kTileRows], right[kTileRows];
  for (size_t r = 0; r < kTileRows; ++r) left[r] = right[r] = hn::Zero(d);
  for (size_t k = 0; k < rows; ++k, p += stride) {
    const Vector u = hn::LoadU(d, p + j), v = hn::LoadU(d, p + j + n);
    for (size_t r = 0; r < kTileRows; ++r) {
      const Vector x = hn::Set(d, p[i + r]);
      left[r] = hn::Add(left[r], hn::Mul(x, u));
      right[r] = hn::Add(right[r], hn::Mul(x, v));
    }
  }
  for (size_t r = 0; r < kTileRows; ++r) {
    double* at = gram + (i + r) * stride + j;
    hn::StoreU(hn::Add(hn::LoadU(d, at), left[r]), d, at);
    hn::StoreU(hn::Add(hn::LoadU(d, at + n), right[r]), d, at + n);
  }
}

void gram(const double* p, size_t rows, size_t m, size_t stride, double* out) {
  const size_t width = 2 * hn::Lanes(Doubles());
  for (size_t j = 0; j < m; j += width)
    for (size_t i = j / kTileRows * kTileRows; i < m; i += kTileRows)
      gram_tile(p, rows, stride, i, j, out);
}

inline Vector load(const double* x) { return hn::LoadU(Doubles(), x); }
inline Vector load(const float* x) {
  return hn::PromoteTo(Doubles(), hn::LoadU(hn::Rebind<float, Doubles>(), x));
}

/// Partial sums of a product: their number does not depend on the width of a vector.
constexpr size_t kPartialSums = 16;
using PartialSums = std::array<double, kPartialSums>;

double total(PartialSums sums) {
  for (size_t half = kPartialSums / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  return sums[0];
}

/// The row is read from memory once, for its product with v, and from the cache to be added.
template <class T>
void normal_row(const T* HWY_RESTRICT a, size_t columns, const double* HWY_RESTRICT v,
                double* HWY_RESTRICT out) {
  const Doubles d;
  constexpr size_t kLanes = hn::MaxLanes(Doubles()), kVectors = kPartialSums / kLanes;
  const size_t whole = columns / kPartialSums * kPartialSums;
  Vector sums[kVectors];
  for (auto& sum : sums) sum = hn::Zero(d);
  for (size_t j = 0; j < whole; j += kPartialSums)
    for (size_t k = 0; k < kVectors; ++k) {
      const size_t at = j + k * kLanes;
      sums[k] = hn::Add(sums[k], hn::Mul(load(a + at), hn::LoadU(d, v + at)));
    }
  PartialSums partial;
  for (size_t k = 0; k < kVectors; ++k) hn::StoreU(sums[k], d, partial.data() + k * kLanes);
  for (size_t j = whole; j < columns; ++j) partial[j - whole] += static_cast<double>(a[j]) * v[j];
  const double product = total(partial);
  const Vector factor = hn::Set(d, product);
  for (size_t j = 0; j < whole; j += kLanes)
    hn::StoreU(hn::Add(hn::LoadU(d, out + j), hn::Mul(load(a + j), factor)), d, out + j);
  for (size_t j = whole; j < columns; ++j) out[j] += static_cast<double>(a[j]) * product;
}

void normal_floats(const float* a, size_t rows, size_t columns, const double* v, double* out) {
  for (size_t i = 0; i < rows; ++i) normal_row(a + i * columns, columns, v, out);
}
void normal_doubles(const double* a, size_t rows, size_t columns, const double* v, double* out) {
  for (size_t i = 0; i < rows; ++i) normal_row(a + i * columns, columns, v, out);
}

}  // namespace param_stats::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace param_stats {

HWY_EXPORT(gram);
HWY_EXPORT(normal_floats);
HWY_EXPORT(normal_doubles);

void add_gram(const double* p, size_t rows, size_t m, size_t stride, double* out) {
  HWY_DYNAMIC_DISPATCH(gram)(p, rows, m, stride, out);
}
void add_normal_product(const float* a, size_t rows, size_t columns, const double* v, double* out) {
  HWY_DYNAMIC_DISPATCH(normal_floats)(a, rows, columns, v, out);
}
void add_normal_product(const double* a, size_t rows, size_t columns, const double* v,
                        double* out) {
  HWY_DYNAMIC_DISPATCH(normal_doubles)(a, rows, columns, v, out);
}

}  // namespace param_stats
#endif
