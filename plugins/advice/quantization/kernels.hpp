// The inner loops: squared errors of rounding to a grid, over rows padded with zeros to a multiple
// of 32 elements. Padding costs nothing: every grid has zero. Vectorised with run-time dispatch.
//
// Errors are summed as float within a call: pass at most kPiece elements at a time.
#pragma once
#include <cstddef>
#include <cstdint>

#include "schemes.hpp"

namespace quantization {

inline constexpr size_t kAlign = 32;    // elements: the smallest group
inline constexpr size_t kPiece = 4096;  // most elements of a call; a multiple of every group

/// One group on an integer grid: error = (x/step - clamp(round(x/step), lo, hi))² · weight, where
/// lo and hi are relative to the zero point.
struct IntegerGroup {
  float inverse_step, lo, hi, weight;
};

/// One group on another grid: error = ((x·inverse - level) · unit)².
struct LevelGroup {
  float inverse, unit;
};

/// Smallest and largest of each 32 elements, with zero; the largest magnitude as bits, which show
/// infinities and NaN (0x7f800000 and above).
uint32_t ranges(const float* x, size_t n, float* lo, float* hi);

/// Σ (x · unit)²
double power(const float* x, size_t n, float unit);

/// The grids of n groups from their ranges, as integer_grid and level_grid (grid.hpp) make one;
/// `out` has room for kStoreSlack more.
inline constexpr size_t kStoreSlack = 32;
void integer_grids(const float* lo, const float* hi, size_t n, int bits, bool symmetric, float unit,
                   IntegerGroup* out);
void level_grids(const float* lo, const float* hi, size_t n, const Scheme& scheme, float unit,
                 LevelGroup* out);

// Groups of `group` elements, a multiple of 32; the last may be shorter.
double integer_error(const float* x, size_t n, size_t group, const IntegerGroup* groups);
double float_error(const float* x, size_t n, size_t group, const LevelGroup* groups,
                   const FloatFormat& format);
double normal_error(const float* x, size_t n, size_t group, const LevelGroup* groups);

/// into[i] = max(into[i], |x[i]|)
void keep_largest(const float* x, size_t n, float* into);

}  // namespace quantization
