#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "block_kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "matrix_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace param_stats::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kBlockStep / 2>;
using Vector = hn::Vec<Floats>;

// Numbers as they are stored. `kVectors` vectors of floats are made of what is loaded at a time.
struct Single {
  using Number = float;
  static constexpr size_t kVectors = 1;
  static HWY_INLINE Vector load(const float* x) { return hn::LoadU(Floats(), x); }
  template <size_t>
  static HWY_INLINE Vector part(Vector loaded) {
    return loaded;
  }
};
struct Half {
  using Number = uint16_t;
  static constexpr size_t kVectors = 1;
  static HWY_INLINE Vector load(const uint16_t* x) {
    const hn::Rebind<hwy::float16_t, Floats> half;
    const hn::RebindToUnsigned<decltype(half)> bits;
    return hn::PromoteTo(Floats(), hn::BitCast(half, hn::LoadU(bits, x)));
  }
  template <size_t>
  static HWY_INLINE Vector part(Vector loaded) {
    return loaded;
  }
};
/// Every other number, then those between: an instruction each. The vectors that are multiplied
/// have their numbers in the same order.
struct Brain {
  using Number = uint16_t;
  using Pairs = hn::RebindToUnsigned<Floats>;
  static constexpr size_t kVectors = 2;
  static HWY_INLINE hn::Vec<Pairs> load(const uint16_t* x) {
#if HWY_TARGET == HWY_SCALAR
    uint32_t pair;
    std::memcpy(&pair, x, sizeof pair);
    return hn::Set(Pairs(), pair);
#else
    return hn::BitCast(Pairs(), hn::LoadU(hn::Repartition<uint16_t, Pairs>(), x));
#endif
  }
  template <size_t kPart>
  static HWY_INLINE Vector part(hn::Vec<Pairs> loaded) {
    if constexpr (kPart == 0) return hn::BitCast(Floats(), hn::ShiftLeft<16>(loaded));
    return hn::BitCast(Floats(), hn::And(loaded, hn::Set(Pairs(), 0xffff0000u)));
  }
};

constexpr size_t kVectors = kBlockVectors;
/// Rows taken together, as registers allow.
#if HWY_TARGET <= HWY_AVX3
constexpr size_t kRows = 4;
#else
constexpr size_t kRows = 2;
#endif

template <class As>
using Rows = std::array<const typename As::Number*, kRows>;

/// f(rows, column) for all that is loaded of the rows at a time.
template <class As, class F>
HWY_INLINE void each_column(const Rows<As>& rows, size_t columns, F f) {
  const size_t step = As::kVectors * hn::Lanes(Floats()), whole = columns / step * step;
  Rows<As> at = rows;
  for (size_t j = 0; j < whole; j += step) {
    f(at, j);
    for (auto& row : at) row += step;
  }
  if (whole == columns) return;
  std::array<std::array<typename As::Number, kBlockStep>, kRows> tails{};  // followed by zeros
  for (size_t r = 0; r < kRows; ++r) {
    std::memcpy(tails[r].data(), at[r], (columns - whole) * sizeof(typename As::Number));
    at[r] = tails[r].data();
  }
  f(at, whole);
}

template <class As>
using Loaded = std::array<decltype(As::load(nullptr)), kRows>;
using Sums = std::array<std::array<Vector, kVectors>, kRows>;

template <class As, size_t kPart>
HWY_INLINE void dots_of_part(const Loaded<As>& x, const float* HWY_RESTRICT v, size_t stride,
                             Sums& sums) {
  const Floats d;
  Vector w[kVectors];
  for (size_t k = 0; k < kVectors; ++k) w[k] = hn::LoadU(d, v + k * stride + kPart * hn::Lanes(d));
  for (size_t r = 0; r < kRows; ++r) {
    const Vector part = As::template part<kPart>(x[r]);
    for (size_t k = 0; k < kVectors; ++k) sums[r][k] = hn::MulAdd(part, w[k], sums[r][k]);
  }
}

/// z_k += the sum of the lanes of sums[k]: four at once, a third of the shuffles.
HWY_INLINE void add_totals(const std::array<Vector, kVectors>& sums, float* HWY_RESTRICT z) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t k = 0; k < kVectors; ++k) z[k] += hn::GetLane(sums[k]);
#else
  static_assert(kVectors == 4);
  const Floats d;
  const auto folded = [d](Vector a, Vector b) HWY_ATTR {
    return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  };
  HWY_ALIGN std::array<float, kBlockStep / 2> four;  // sums of each 128 bits, in the order of z
  hn::Store(folded(folded(sums[0], sums[2]), folded(sums[1], sums[3])), d, four.data());
  const hn::FixedTag<float, 4> quarter;
  auto total = hn::LoadU(quarter, z);
  for (size_t i = 0; i < hn::Lanes(d); i += 4)
    total = hn::Add(total, hn::Load(quarter, four.data() + i));
  hn::StoreU(total, quarter, z);
#endif
}

template <class As>
HWY_INLINE void dots(const Rows<As>& rows, size_t columns, size_t ahead,
                     const float* HWY_RESTRICT v, size_t stride, float* HWY_RESTRICT z) {
  const Floats d;
  Sums sums;
  for (auto& row : sums)
    for (auto& sum : row) sum = hn::Zero(d);
  each_column<As>(rows, columns, [&](const Rows<As>& at, size_t j) HWY_ATTR {
    Loaded<As> x;
    for (size_t r = 0; r < kRows; ++r) {
      hwy::Prefetch(at[r] + ahead);
      x[r] = As::load(at[r]);
    }
    dots_of_part<As, 0>(x, v + j, stride, sums);
    if constexpr (As::kVectors == 2) dots_of_part<As, 1>(x, v + j, stride, sums);
  });
  for (size_t r = 0; r < kRows; ++r) add_totals(sums[r], z + r * kVectors);
}

/// What is loaded kLoads times in a row, of all rows: the sums stay in registers.
template <class As, size_t kLoads>
HWY_INLINE void add_columns(const typename As::Number* HWY_RESTRICT at, size_t count, size_t pitch,
                            const float* HWY_RESTRICT z, size_t stride, float* HWY_RESTRICT y) {
  constexpr size_t kParts = kLoads * As::kVectors;
  const Floats d;
  const size_t lanes = hn::Lanes(d), step = As::kVectors * lanes;
  Vector sums[kParts][kVectors];
  for (size_t p = 0; p < kParts; ++p)
    for (size_t k = 0; k < kVectors; ++k) sums[p][k] = hn::LoadU(d, y + k * stride + p * lanes);
  for (size_t r = 0; r < count; ++r, at += pitch, z += kVectors) {
    Vector parts[kParts];
    for (size_t l = 0; l < kLoads; ++l) {
      const auto x = As::load(at + l * step);
      parts[l * As::kVectors] = As::template part<0>(x);
      if constexpr (As::kVectors == 2) parts[l * 2 + 1] = As::template part<1>(x);
    }
    for (size_t k = 0; k < kVectors; ++k) {
      const Vector factor = hn::Set(d, z[k]);
      for (size_t p = 0; p < kParts; ++p) sums[p][k] = hn::MulAdd(parts[p], factor, sums[p][k]);
    }
  }
  for (size_t p = 0; p < kParts; ++p)
    for (size_t k = 0; k < kVectors; ++k) hn::StoreU(sums[p][k], d, y + k * stride + p * lanes);
}

/// Columns that are less than is loaded at a time.
template <class As>
void add_tail(const typename As::Number* at, size_t count, size_t columns, size_t pitch,
              const float* z, size_t stride, float* y) {
  std::array<typename As::Number, kBlockStep> tail{};  // followed by zeros
  for (size_t r = 0; r < count; ++r) {
    std::memcpy(tail.data(), at + r * pitch, columns * sizeof(tail[0]));
    add_columns<As, 1>(tail.data(), 1, 0, z + r * kVectors, stride, y);
  }
}

/// f(rows, first row, how many): what is missing in the last is its last row again.
template <class As, class F>
HWY_INLINE void each_rows(const void* numbers, size_t count, size_t pitch, F f) {
  const auto* a = static_cast<const typename As::Number*>(numbers);
  for (size_t i = 0; i < count; i += kRows) {
    Rows<As> rows;
    for (size_t r = 0; r < kRows; ++r) rows[r] = a + std::min(i + r, count - 1) * pitch;
    f(rows, i, std::min(kRows, count - i));
  }
}

using Some = std::array<float, kRows * kVectors>;

template <class As>
void dots_of(const void* a, size_t count, size_t columns, size_t pitch, const float* v,
             size_t stride, float* z) {
  each_rows<As>(a, count, pitch, [&](const Rows<As>& rows, size_t i, size_t n) HWY_ATTR {
    Some sums{};
    dots<As>(rows, columns, kRows * pitch, v, stride, sums.data());
    for (size_t k = 0; k < n * kVectors; ++k) z[i * kVectors + k] += sums[k];
  });
}
template <class As>
void rows_of(const void* numbers, size_t count, size_t columns, size_t pitch, const float* z,
             size_t stride, float* y) {
  constexpr size_t kLoads = 4 / As::kVectors;
  const auto* a = static_cast<const typename As::Number*>(numbers);
  const size_t step = As::kVectors * hn::Lanes(Floats());
  size_t j = 0;
  for (; j + kLoads * step <= columns; j += kLoads * step)
    add_columns<As, kLoads>(a + j, count, pitch, z, stride, y + j);
  for (; j + step <= columns; j += step) add_columns<As, 1>(a + j, count, pitch, z, stride, y + j);
  if (j < columns) add_tail<As>(a + j, count, columns - j, pitch, z, stride, y + j);
}

void block_dots(Stored stored, const void* a, size_t rows, size_t columns, size_t pitch,
                const float* v, size_t stride, float* z) {
  const auto f = stored == Stored::kFloat  ? dots_of<Single>
                 : stored == Stored::kHalf ? dots_of<Half>
                                           : dots_of<Brain>;
  f(a, rows, columns, pitch, v, stride, z);
}
void block_rows(Stored stored, const void* a, size_t rows, size_t columns, size_t pitch,
                const float* z, size_t stride, float* y) {
  const auto f = stored == Stored::kFloat  ? rows_of<Single>
                 : stored == Stored::kHalf ? rows_of<Half>
                                           : rows_of<Brain>;
  f(a, rows, columns, pitch, z, stride, y);
}

void products(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, size_t stride,
              double* HWY_RESTRICT out) {
  const hn::CappedTag<double, kBlockStep / 4> d;
  const hn::Rebind<float, decltype(d)> half;
  hn::Vec<decltype(d)> sums[kVectors][kVectors], x[kVectors], y;
  for (auto& row : sums)
    for (auto& sum : row) sum = hn::Zero(d);
  for (size_t j = 0; j < stride; j += hn::Lanes(d)) {
    for (size_t i = 0; i < kVectors; ++i)
      x[i] = hn::PromoteTo(d, hn::LoadU(half, a + i * stride + j));
    for (size_t k = 0; k < kVectors; ++k) {
      y = hn::PromoteTo(d, hn::LoadU(half, b + k * stride + j));
      for (size_t i = 0; i < kVectors; ++i) sums[i][k] = hn::MulAdd(x[i], y, sums[i][k]);
    }
  }
  for (size_t i = 0; i < kVectors; ++i)
    for (size_t k = 0; k < kVectors; ++k)
      out[i * kVectors + k] = hn::GetLane(hn::SumOfLanes(d, sums[i][k]));
}

void mix(const float* HWY_RESTRICT q, const float* HWY_RESTRICT factors, size_t stride,
         float* HWY_RESTRICT w) {
  const Floats d;
  Vector f[kVectors][kVectors];
  for (size_t i = 0; i < kVectors; ++i)
    for (size_t k = 0; k < kVectors; ++k) f[i][k] = hn::Set(d, factors[i * kVectors + k]);
  for (size_t j = 0; j < stride; j += hn::Lanes(d)) {
    Vector x[kVectors];
    for (size_t i = 0; i < kVectors; ++i) x[i] = hn::LoadU(d, q + i * stride + j);
    for (size_t k = 0; k < kVectors; ++k) {
      float* at = w + k * stride + j;
      Vector sum = hn::LoadU(d, at);
      for (size_t i = 0; i < kVectors; ++i) sum = hn::MulAdd(x[i], f[i][k], sum);
      hn::StoreU(sum, d, at);
    }
  }
}

}  // namespace param_stats::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace param_stats {

HWY_EXPORT(block_dots);
HWY_EXPORT(block_rows);
HWY_EXPORT(products);
HWY_EXPORT(mix);

void add_block_dots(Stored stored, const void* a, size_t rows, size_t columns, size_t pitch,
                    const float* v, size_t stride, float* z) {
  HWY_DYNAMIC_DISPATCH(block_dots)(stored, a, rows, columns, pitch, v, stride, z);
}
void add_block_rows(Stored stored, const void* a, size_t rows, size_t columns, size_t pitch,
                    const float* z, size_t stride, float* y) {
  HWY_DYNAMIC_DISPATCH(block_rows)(stored, a, rows, columns, pitch, z, stride, y);
}

void block_products(const float* a, const float* b, size_t stride, double* out) {
  HWY_DYNAMIC_DISPATCH(products)(a, b, stride, out);
}
void add_block_mix(const float* q, const float* factors, size_t stride, float* w) {
  HWY_DYNAMIC_DISPATCH(mix)(q, factors, stride, w);
}

}  // namespace param_stats
#endif
