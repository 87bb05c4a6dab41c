#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix_kernels.cpp"
#include "matrix_kernels.hpp"

#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace param_stats::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most 8 lanes, so that two vectors fit kGramStep.
using Doubles = hn::CappedTag<double, kGramStep / 2>;
using Vector = hn::Vec<Doubles>;

/// Rows of the Gram matrix that are summed up together, as registers allow: the more, the less is
/// read from the second cache.
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
      left[r] = hn::MulAdd(x, u, left[r]);
      right[r] = hn::MulAdd(x, v, right[r]);
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

/// The row is read once from memory: for its product with v, then, in the cache, to be added.
template <class T>
void normal_row(const T* HWY_RESTRICT a, size_t columns, const double* HWY_RESTRICT v,
                double* HWY_RESTRICT out) {
  const Doubles d;
  const size_t n = hn::Lanes(d), whole = columns / (4 * n) * (4 * n);
  Vector s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  for (size_t j = 0; j < whole; j += 4 * n) {
    s0 = hn::MulAdd(load(a + j), hn::LoadU(d, v + j), s0);
    s1 = hn::MulAdd(load(a + j + n), hn::LoadU(d, v + j + n), s1);
    s2 = hn::MulAdd(load(a + j + 2 * n), hn::LoadU(d, v + j + 2 * n), s2);
    s3 = hn::MulAdd(load(a + j + 3 * n), hn::LoadU(d, v + j + 3 * n), s3);
  }
  double product = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (size_t j = whole; j < columns; ++j) product += static_cast<double>(a[j]) * v[j];
  const Vector factor = hn::Set(d, product);
  for (size_t j = 0; j < whole; j += n)
    hn::StoreU(hn::MulAdd(load(a + j), factor, hn::LoadU(d, out + j)), d, out + j);
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
