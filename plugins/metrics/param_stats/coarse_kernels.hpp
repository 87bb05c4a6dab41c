// Products with a matrix of which a byte a number is left, by the instructions that multiply and
// add 64 bytes at a time.
#pragma once
#include <cstddef>
#include <cstdint>

#include "matrix_kernels.hpp"

namespace param_stats {

/// Rows of bytes are a multiple of this long, and beside each other in groups of kCoarseRows.
constexpr size_t kCoarseStep = 64;
constexpr size_t kCoarseRows = 4;
/// What is added to a number of the matrix: the instruction wants one side without a sign.
constexpr int kCoarseZero = 128;
constexpr int kCoarseMost = 127;  // magnitude, of both sides
/// Columns up to which sums of products fit 32 bits: kCoarseMost (kCoarseZero + kCoarseMost) each.
constexpr size_t kMostCoarseColumns = size_t{1} << 15;
/// Numbers that a row is made bytes with at a time, and the random ones there must be for it.
constexpr size_t kCoarsePiece = 1024;

struct CoarseKernels {
  /// The largest magnitude of a row.
  float (*largest)(Stored stored, const void* row, size_t columns);
  /// out = x times + random, without what is behind the point, of `columns` numbers, in the order
  /// of block_dots, zeros up to a multiple of kCoarseStep. `random`: kCoarseZero and up to 1 more.
  void (*bytes)(Stored stored, const void* row, size_t columns, float times, const float* random,
                uint8_t* out);
  /// out = x times, rounded; returns the sum. count: a multiple of 32.
  int32_t (*rounded)(const float* x, size_t count, float times, int8_t* out);
  /// z[row * kBlockVectors + k] = a_row · v_k of a multiple of kCoarseRows rows of `pitch` bytes;
  /// v_k too, of which `sums` are the sums.
  void (*dots)(const uint8_t* a, size_t rows, size_t pitch, const int8_t* v, const int32_t* sums,
               int32_t* z);
  /// y_k += times_k times the sum over the rows of w_k[row] a_row; w: for each kCoarseRows rows,
  /// for each k, the rows' numbers; `sums`: of each w_k. y_k: `stride` floats, behind which zeros
  /// are added up to a multiple of kCoarseStep.
  void (*rows)(const uint8_t* a, size_t rows, size_t pitch, const int8_t* w, const int32_t* sums,
               const float* times, size_t stride, float* y);
};

/// None where the processor has no such instructions.
const CoarseKernels* coarse_kernels();

}  // namespace param_stats
