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

using Floats = hn::CappedTag<float, kBlockStep>;
using Vector = hn::Vec<Floats>;

struct Single {
  using Number = float;
  static HWY_INLINE Vector load(const float* x) { return hn::LoadU(Floats(), x); }
};
struct Half {
  using Number = uint16_t;
  static HWY_INLINE Vector load(const uint16_t* x) {
    const hn::Rebind<hwy::float16_t, Floats> half;
    const hn::RebindToUnsigned<decltype(half)> bits;
    return hn::PromoteTo(Floats(), hn::BitCast(half, hn::LoadU(bits, x)));
  }
};
struct Brain {
  using Number = uint16_t;
  static HWY_INLINE Vector load(const uint16_t* x) {
    const hn::RebindToUnsigned<Floats> wide;
    const hn::Rebind<uint16_t, Floats> bits;
    return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(wide, hn::LoadU(bits, x))));
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

/// f(rows, column) for every vector of the rows.
template <class As, class F>
HWY_INLINE void each_column(const Rows<As>& rows, size_t columns, F f) {
  const size_t lanes = hn::Lanes(Floats()), whole = columns / lanes * lanes;
  Rows<As> at = rows;
  for (size_t j = 0; j < whole; j += lanes) {
    f(at, j);
    for (auto& row : at) row += lanes;
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
HWY_INLINE void dots(const Rows<As>& rows, size_t columns, size_t ahead,
                     const float* HWY_RESTRICT v, size_t stride, float* HWY_RESTRICT z) {
  const Floats d;
  Vector sums[kRows][kVectors];
  for (auto& row : sums)
    for (auto& sum : row) sum = hn::Zero(d);
  each_column<As>(rows, columns, [&](const Rows<As>& at, size_t j) HWY_ATTR {
    Vector w[kVectors];
    for (size_t k = 0; k < kVectors; ++k) w[k] = hn::LoadU(d, v + k * stride + j);
    for (size_t r = 0; r < kRows; ++r) {
      hwy::Prefetch(at[r] + ahead);
      const Vector x = As::load(at[r]);
      for (size_t k = 0; k < kVectors; ++k) sums[r][k] = hn::MulAdd(x, w[k], sums[r][k]);
    }
  });
  for (size_t r = 0; r < kRows; ++r)
    for (size_t k = 0; k < kVectors; ++k)
      z[r * kVectors + k] += hn::GetLane(hn::SumOfLanes(d, sums[r][k]));
}

template <class As>
HWY_INLINE void add_rows(const Rows<As>& rows, size_t columns, const float* HWY_RESTRICT z,
                         size_t stride, float* HWY_RESTRICT y) {
  const Floats d;
  Vector factors[kRows][kVectors];
  for (size_t r = 0; r < kRows; ++r)
    for (size_t k = 0; k < kVectors; ++k) factors[r][k] = hn::Set(d, z[r * kVectors + k]);
  each_column<As>(rows, columns, [&](const Rows<As>& at, size_t j) HWY_ATTR {
    Vector x[kRows];
    for (size_t r = 0; r < kRows; ++r) x[r] = As::load(at[r]);
    for (size_t k = 0; k < kVectors; ++k) {
      Vector sum = hn::LoadU(d, y + k * stride + j);
      for (size_t r = 0; r < kRows; ++r) sum = hn::MulAdd(x[r], factors[r][k], sum);
      hn::StoreU(sum, d, y + k * stride + j);
    }
  });
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
void rows_of(const void* a, size_t count, size_t columns, size_t pitch, const float* z,
             size_t stride, float* y) {
  each_rows<As>(a, count, pitch, [&](const Rows<As>& rows, size_t i, size_t n) HWY_ATTR {
    Some factors{};
    std::copy_n(z + i * kVectors, n * kVectors, factors.data());
    add_rows<As>(rows, columns, factors.data(), stride, y);
  });
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

}  // namespace param_stats::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace param_stats {

HWY_EXPORT(block_dots);
HWY_EXPORT(block_rows);

void add_block_dots(Stored stored, const void* a, size_t rows, size_t columns, size_t pitch,
                    const float* v, size_t stride, float* z) {
  HWY_DYNAMIC_DISPATCH(block_dots)(stored, a, rows, columns, pitch, v, stride, z);
}
void add_block_rows(Stored stored, const void* a, size_t rows, size_t columns, size_t pitch,
                    const float* z, size_t stride, float* y) {
  HWY_DYNAMIC_DISPATCH(block_rows)(stored, a, rows, columns, pitch, z, stride, y);
}

}  // namespace param_stats
#endif
