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

/// Rows [i, i + 4) and columns [j, j + 2 vectors) of the Gram matrix, kept in registers.
HWY_INLINE void gram_tile(const double* HWY_RESTRICT p, size_t rows, size_t stride, size_t i,
                          size_t j, double* HWY_RESTRICT gram) {
  const Doubles d;
  const size_t n = hn::Lanes(d);
  Vector a0 = hn::Zero(d), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, e0 = a0, e1 = a0;
  for (size_t k = 0; k < rows; ++k, p += stride) {
    const Vector u = hn::LoadU(d, p + j), v = hn::LoadU(d, p + j + n);
    const Vector w = hn::Set(d, p[i]), x = hn::Set(d, p[i + 1]);
    const Vector y = hn::Set(d, p[i + 2]), z = hn::Set(d, p[i + 3]);
    a0 = hn::MulAdd(w, u, a0), a1 = hn::MulAdd(w, v, a1);
    b0 = hn::MulAdd(x, u, b0), b1 = hn::MulAdd(x, v, b1);
    c0 = hn::MulAdd(y, u, c0), c1 = hn::MulAdd(y, v, c1);
    e0 = hn::MulAdd(z, u, e0), e1 = hn::MulAdd(z, v, e1);
  }
  const auto store = [&](size_t row, Vector left, Vector right) {
    double* at = gram + (i + row) * stride + j;
    hn::StoreU(hn::Add(hn::LoadU(d, at), left), d, at);
    hn::StoreU(hn::Add(hn::LoadU(d, at + n), right), d, at + n);
  };
  store(0, a0, a1), store(1, b0, b1), store(2, c0, c1), store(3, e0, e1);
}

void gram(const double* p, size_t rows, size_t m, size_t stride, double* out) {
  const size_t width = 2 * hn::Lanes(Doubles());
  for (size_t j = 0; j < m; j += width)
    for (size_t i = j / 4 * 4; i < m; i += 4) gram_tile(p, rows, stride, i, j, out);
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
