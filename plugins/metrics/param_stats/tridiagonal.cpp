#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tridiagonal.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "matrix_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace param_stats::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, 8>;
using Vector = hn::Vec<Doubles>;

/// What one sweep over the rows does: A -= v q^T + q v^T, and p = A x of the A that comes of it.
struct Sweep {
  const double *v, *q, *x;
  double* p;
};

/// Of rows [first, first + kRows), up to the diagonal. p has what rows before have brought it.
template <size_t kRows>
HWY_INLINE void sweep_rows(double* HWY_RESTRICT a, size_t stride, size_t first, const Sweep& s) {
  const Doubles d;
  const size_t lanes = hn::Lanes(d), whole = first / lanes * lanes;
  Vector v[kRows], q[kRows], x[kRows], dots[kRows];
  for (size_t r = 0; r < kRows; ++r) {
    v[r] = hn::Set(d, s.v[first + r]);
    q[r] = hn::Set(d, s.q[first + r]);
    x[r] = hn::Set(d, s.x[first + r]);
    dots[r] = hn::Zero(d);
  }
  for (size_t j = 0; j < whole; j += lanes) {
    const Vector vj = hn::LoadU(d, s.v + j), qj = hn::LoadU(d, s.q + j), xj = hn::LoadU(d, s.x + j);
    Vector pj = hn::LoadU(d, s.p + j);
    for (size_t r = 0; r < kRows; ++r) {
      double* at = a + (first + r) * stride + j;
      const Vector now = hn::NegMulAdd(q[r], vj, hn::NegMulAdd(v[r], qj, hn::LoadU(d, at)));
      hn::StoreU(now, d, at);
      dots[r] = hn::MulAdd(now, xj, dots[r]);
      pj = hn::MulAdd(now, x[r], pj);
    }
    hn::StoreU(pj, d, s.p + j);
  }
  for (size_t r = 0; r < kRows; ++r) {
    const size_t row = first + r;
    double dot = hn::GetLane(hn::SumOfLanes(d, dots[r]));
    for (size_t j = whole; j <= row; ++j) {
      double& at = a[row * stride + j];
      at -= s.v[row] * s.q[j] + s.q[row] * s.v[j];
      dot += at * s.x[j];
      if (j < row) s.p[j] += at * s.x[row];
    }
    s.p[row] += dot;
  }
}

void sweep(double* a, size_t rows, size_t stride, const Sweep& s) {
  constexpr size_t kTogether = 4;
  size_t i = 0;
  for (; i + kTogether <= rows; i += kTogether) sweep_rows<kTogether>(a, stride, i, s);
  for (; i < rows; ++i) sweep_rows<1>(a, stride, i, s);
}

/// Householder's reflections from the last row on: I - v v^T / h makes all of a row 0 but for its
/// diagonal and the number before, which is returned. Wilkinson & Reinsch, Handbook for Automatic
/// Computation II, 1971, tred.
struct Reflection {
  double below, h;
};
Reflection reflect(const double* row, size_t n, double* v) {
  double rest = 0;
  for (size_t j = 0; j + 1 < n; ++j) rest += row[j] * row[j];
  const double last = row[n - 1];
  if (rest == 0) {
    std::fill_n(v, n, 0.0);
    return {last, 0};
  }
  const double below = -std::copysign(std::sqrt(rest + last * last), last);
  std::copy_n(row, n, v);
  v[n - 1] = last - below;
  return {below, below * (below - last)};
}

bool tridiagonal(double* a, size_t m, size_t stride, double* diagonal, double* below,
                 const std::function<bool()>& stop) {
  std::vector<double> v(m), q(m), x(m), p(m);  // v, q: of the reflection before
  for (size_t i = m; i-- > 0;) {
    if (stop && stop()) return false;
    double* row = a + i * stride;
    for (size_t j = 0; j <= i; ++j) row[j] -= v[i] * q[j] + q[i] * v[j];
    diagonal[i] = row[i];
    if (i == 0) break;
    const auto reflection = reflect(row, i, x.data());
    below[i - 1] = reflection.below;
    std::fill_n(p.begin(), i, 0.0);
    sweep(a, i, stride, {v.data(), q.data(), x.data(), p.data()});
    // q = p / h - (v^T p / 2 h^2) v, with v = x.
    const double scale = reflection.h > 0 ? 1 / reflection.h : 0;
    double along = 0;
    for (size_t j = 0; j < i; ++j) along += x[j] * p[j];
    const double share = along * scale * scale / 2;
    for (size_t j = 0; j < i; ++j) q[j] = p[j] * scale - share * x[j];
    v.swap(x);
  }
  return true;
}

}  // namespace param_stats::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace param_stats {

HWY_EXPORT(tridiagonal);

bool make_tridiagonal(double* a, size_t m, size_t stride, double* diagonal, double* below,
                      const std::function<bool()>& stop) {
  return HWY_DYNAMIC_DISPATCH(tridiagonal)(a, m, stride, diagonal, below, stop);
}

}  // namespace param_stats
#endif
