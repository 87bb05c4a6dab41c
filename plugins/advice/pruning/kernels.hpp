// The inner loops over a weight's elements, vectorised with run-time dispatch.
#pragma once
#include <cstddef>
#include <cstdint>

namespace pruning {

/// Adds to `bins` how often each upper half of a magnitude's float32 pattern occurs. False where
/// there is an infinity or NaN: then nothing is added.
bool count_magnitudes(const float* x, size_t n, uint64_t* bins);

/// Σx² of a row, and of the two largest of each four; the squares go to `columns` as well.
struct RowSquares {
  double all = 0, kept = 0;
};
RowSquares add_squares(const float* x, size_t n, bool fours, double* columns);

}  // namespace pruning
