#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "coarse_kernels.cpp"
#include "coarse_kernels.hpp"

#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstring>

// Highway 1.0.3 has no such multiplication, and no target of its own between AVX-512 and those that
// have it, unless all plugins' kernels were compiled for one more.
HWY_BEFORE_NAMESPACE();
namespace param_stats::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3
HWY_PUSH_ATTRIBUTES("avx512vnni")

using Bytes = __m512i;
constexpr size_t kLanes = 16, kPair = 2 * kLanes;
constexpr size_t kVectors = kBlockVectors;
static_assert(kPair == kBlockStep && kVectors == 4);

struct Pair {
  __m512 first, second;
};

// kPair numbers, in the order of block_dots.
HWY_INLINE Pair pair_of(const float* x) { return {_mm512_loadu_ps(x), _mm512_loadu_ps(x + 16)}; }
struct Half {
  uint16_t bits;
};
HWY_INLINE Pair pair_of(const Half* x) {
  const auto at = [](const Half* p) HWY_ATTR {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  };
  return {at(x), at(x + kLanes)};
}
struct Brain {
  uint16_t bits;
};
HWY_INLINE Pair pair_of(const Brain* x) {
  const Bytes bits = _mm512_loadu_si512(x);
  return {_mm512_castsi512_ps(_mm512_slli_epi32(bits, 16)),
          _mm512_castsi512_ps(_mm512_and_si512(bits, _mm512_set1_epi32(-65536)))};
}

/// What is missing to kPair numbers is 0.
template <class T>
struct Tail {
  Tail(const T* row, size_t columns) {
    const size_t whole = columns / kPair * kPair;
    std::memcpy(numbers.data(), row + whole, (columns - whole) * sizeof(T));
  }
  std::array<T, kPair> numbers{};
};

template <class T>
float largest_of(const void* numbers, size_t columns) {
  const auto* row = static_cast<const T*>(numbers);
  __m512 most = _mm512_setzero_ps();
  size_t j = 0;
  for (; j + kPair <= columns; j += kPair) {
    const Pair x = pair_of(row + j);
    most = _mm512_max_ps(most, _mm512_max_ps(_mm512_abs_ps(x.first), _mm512_abs_ps(x.second)));
  }
  if (j < columns) {
    const Pair x = pair_of(Tail<T>(row, columns).numbers.data());
    most = _mm512_max_ps(most, _mm512_max_ps(_mm512_abs_ps(x.first), _mm512_abs_ps(x.second)));
  }
  return _mm512_reduce_max_ps(most);
}
float largest(Stored stored, const void* row, size_t columns) {
  return stored == Stored::kFloat  ? largest_of<float>(row, columns)
         : stored == Stored::kHalf ? largest_of<Half>(row, columns)
                                   : largest_of<Brain>(row, columns);
}

HWY_INLINE void put(__m512 x, __m512 times, const float* random, uint8_t* out) {
  const __m512 sum = _mm512_fmadd_ps(x, times, _mm512_loadu_ps(random));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                   _mm512_cvtusepi32_epi8(_mm512_cvttps_epi32(sum)));
}
template <class T>
void bytes_of(const void* numbers, size_t columns, float factor, const float* random,
              uint8_t* out) {
  const auto* row = static_cast<const T*>(numbers);
  const __m512 times = _mm512_set1_ps(factor);
  const size_t whole = columns / kPair * kPair;
  for (size_t j = 0; j < whole; j += kPair) {
    const Pair x = pair_of(row + j);
    put(x.first, times, random + j, out + j);
    put(x.second, times, random + j + kLanes, out + j + kLanes);
  }
  if (whole == columns) return;
  const Pair x = pair_of(Tail<T>(row, columns).numbers.data());
  put(x.first, times, random + whole, out + whole);
  put(x.second, times, random + whole + kLanes, out + whole + kLanes);
}
void bytes(Stored stored, const void* row, size_t columns, float times, const float* random,
           uint8_t* out) {
  const auto f = stored == Stored::kFloat  ? bytes_of<float>
                 : stored == Stored::kHalf ? bytes_of<Half>
                                           : bytes_of<Brain>;
  f(row, columns, times, random, out);
}

int32_t rounded(const float* x, size_t count, float times, int8_t* out) {
  const __m512 factor = _mm512_set1_ps(times);
  Bytes sum = _mm512_setzero_si512();
  for (size_t j = 0; j < count; j += kLanes) {
    const Bytes q = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x + j), factor));
    sum = _mm512_add_epi32(sum, q);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + j), _mm512_cvtsepi32_epi8(q));
  }
  return _mm512_reduce_add_epi32(sum);
}

using Sums = std::array<std::array<Bytes, kVectors>, kCoarseRows>;

/// The sums over lanes of all 16 at once: row r, vector k in lane 4 r + k.
HWY_INLINE Bytes totals(const Sums& s) {
  Bytes rows[kCoarseRows];
  for (size_t r = 0; r < kCoarseRows; ++r) {
    const Bytes a = _mm512_add_epi32(_mm512_unpacklo_epi32(s[r][0], s[r][2]),
                                     _mm512_unpackhi_epi32(s[r][0], s[r][2]));
    const Bytes b = _mm512_add_epi32(_mm512_unpacklo_epi32(s[r][1], s[r][3]),
                                     _mm512_unpackhi_epi32(s[r][1], s[r][3]));
    rows[r] = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
  }
  const auto folded = [](Bytes a, Bytes b) HWY_ATTR {
    return _mm512_add_epi32(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xdd));
  };
  return folded(folded(rows[0], rows[1]), folded(rows[2], rows[3]));
}

void dots(const uint8_t* a, size_t count, size_t pitch, const int8_t* v, const int32_t* v_sums,
          int32_t* z) {
  const Bytes sums =
      _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(v_sums)));
  const Bytes too_much = _mm512_mullo_epi32(sums, _mm512_set1_epi32(kCoarseZero));
  for (size_t i = 0; i < count; i += kCoarseRows, a += kCoarseRows * pitch) {
    Sums s;
    for (auto& row : s)
      for (auto& sum : row) sum = _mm512_setzero_si512();
    for (size_t j = 0; j < pitch; j += kCoarseStep) {
      Bytes w[kVectors];
      for (size_t k = 0; k < kVectors; ++k) w[k] = _mm512_loadu_si512(v + k * pitch + j);
      for (size_t r = 0; r < kCoarseRows; ++r) {
        const Bytes x = _mm512_loadu_si512(a + r * pitch + j);
        _mm_prefetch(reinterpret_cast<const char*>(a + (kCoarseRows + r) * pitch + j), _MM_HINT_T0);
        for (size_t k = 0; k < kVectors; ++k) s[r][k] = _mm512_dpbusd_epi32(s[r][k], x, w[k]);
      }
    }
    _mm512_storeu_si512(z + i * kVectors, _mm512_sub_epi32(totals(s), too_much));
  }
}

/// Four rows of kCoarseStep bytes as columns of four; lane l of part p: columns 16 l + 4 p and on.
struct Columns {
  HWY_INLINE Columns(const uint8_t* a, size_t pitch) {
    const Bytes r0 = _mm512_loadu_si512(a), r1 = _mm512_loadu_si512(a + pitch);
    const Bytes r2 = _mm512_loadu_si512(a + 2 * pitch), r3 = _mm512_loadu_si512(a + 3 * pitch);
    const Bytes low01 = _mm512_unpacklo_epi8(r0, r1), high01 = _mm512_unpackhi_epi8(r0, r1);
    const Bytes low23 = _mm512_unpacklo_epi8(r2, r3), high23 = _mm512_unpackhi_epi8(r2, r3);
    parts[0] = _mm512_unpacklo_epi16(low01, low23);
    parts[1] = _mm512_unpackhi_epi16(low01, low23);
    parts[2] = _mm512_unpacklo_epi16(high01, high23);
    parts[3] = _mm512_unpackhi_epi16(high01, high23);
  }
  Bytes parts[4];
};
/// y += the sums, which are in the order of Columns, times a factor.
HWY_INLINE void add_columns(const std::array<Bytes, 4>& s, __m512 times, float* y) {
  const Bytes a = _mm512_shuffle_i32x4(s[0], s[1], 0x44),
              b = _mm512_shuffle_i32x4(s[2], s[3], 0x44);
  const Bytes c = _mm512_shuffle_i32x4(s[0], s[1], 0xee),
              d = _mm512_shuffle_i32x4(s[2], s[3], 0xee);
  const Bytes in_order[4] = {_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xdd),
                             _mm512_shuffle_i32x4(c, d, 0x88), _mm512_shuffle_i32x4(c, d, 0xdd)};
  for (size_t l = 0; l < 4; ++l) {
    float* at = y + l * kLanes;
    _mm512_storeu_ps(at,
                     _mm512_fmadd_ps(_mm512_cvtepi32_ps(in_order[l]), times, _mm512_loadu_ps(at)));
  }
}

void rows(const uint8_t* a, size_t count, size_t pitch, const int8_t* w, const int32_t* w_sums,
          const float* times, size_t stride, float* y) {
  for (size_t j = 0; j < pitch; j += kCoarseStep) {
    Sums s;
    for (size_t k = 0; k < kVectors; ++k)
      for (auto& sum : s[k]) sum = _mm512_set1_epi32(-kCoarseZero * w_sums[k]);
    const uint8_t* at = a + j;
    const int8_t* factors = w;
    for (size_t i = 0; i < count; i += kCoarseRows) {
      const Columns x(at, pitch);
      at += kCoarseRows * pitch;
      for (size_t r = 0; r < kCoarseRows; ++r)
        _mm_prefetch(reinterpret_cast<const char*>(at + (kCoarseRows + r) * pitch), _MM_HINT_T0);
      for (size_t k = 0; k < kVectors; ++k, factors += kCoarseRows) {
        int32_t four;
        std::memcpy(&four, factors, sizeof four);
        const Bytes factor = _mm512_set1_epi32(four);
        for (size_t p = 0; p < 4; ++p) s[k][p] = _mm512_dpbusd_epi32(s[k][p], x.parts[p], factor);
      }
    }
    for (size_t k = 0; k < kVectors; ++k)
      add_columns(s[k], _mm512_set1_ps(times[k]), y + k * stride + j);
  }
}

const CoarseKernels* kernels() {
  static constexpr CoarseKernels kTable{largest, bytes, rounded, dots, rows};
  static const bool can = __builtin_cpu_supports("avx512vnni");
  return can ? &kTable : nullptr;
}
HWY_POP_ATTRIBUTES
#else
const CoarseKernels* kernels() { return nullptr; }
#endif

}  // namespace param_stats::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace param_stats {

HWY_EXPORT(kernels);
const CoarseKernels* coarse_kernels() { return HWY_DYNAMIC_DISPATCH(kernels)(); }

}  // namespace param_stats
#endif
