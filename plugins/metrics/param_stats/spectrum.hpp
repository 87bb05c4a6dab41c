// Singular values of a tensor taken as a matrix [dim 0, all others].
//
// Where the shorter side is at most what is asked for: all of them, from the eigenvalues of the
// Gram matrix. Squaring costs half of the digits of small ones; below sqrt(m * 2^-52) of the
// largest they count as 0. Longer: the largest only, by Lanczos' method on A^T A, to a tolerance;
// memory is a few vectors.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <tmeter/cpp/dtype.hpp>

#include "sketch.hpp"

namespace param_stats {

constexpr int64_t kRankSide = 64;    // up to here all singular values take no longer than the rest
constexpr int64_t kGramSide = 1024;  // the norm by the Gram matrix, where blocks of vectors cannot
constexpr double kBlockTolerance = 5e-4;  // from here on float is exact enough
constexpr double kSingleTolerance =
    1e-6;  // one vector may take a coarser one for reached too early
constexpr int64_t kBlockColumns = int64_t{1} << 18;  // beyond, blocks of vectors take too much room
constexpr int kMostSteps = 300;                      // of Lanczos' method with one vector

struct Spectrum {
  double norm = 0;  // the largest singular value
  std::optional<double> effective_rank;
};

struct Matrix {
  int64_t rows, columns;
  tmeter::DType dtype;
  /// Elements [first, first + count) in row-major order, valid until the next call.
  std::function<std::span<const uint8_t>(int64_t first, int64_t count)> read;
  double largest = 1;  // magnitude, roughly: only that its square is no problem matters
};

/// What is asked for.
struct Wanted {
  double tolerance = 1e-3;        // relative, of the norm where it is not by the Gram matrix
  int64_t rank_side = kRankSide;  // up to this shorter side there is an effective rank
};

/// Whether the largest singular value is looked for by blocks of vectors, and a sketch of a matrix
/// of that shape is worth its memory.
bool wants_sketch(tmeter::DType type, int64_t rows, int64_t columns, const Wanted& wanted);

/// All numbers are finite and not all are 0. None when Lanczos' method does not get there. `stop`
/// is asked now and then. `sketch`: of the whole matrix, if there is one.
std::optional<Spectrum> spectrum_of(const Matrix& matrix, const Wanted& wanted,
                                    const std::function<bool()>& stop,
                                    const RowSketch* sketch = nullptr);

/// The parts, for tests.
Spectrum spectrum_by_gram(const Matrix& matrix, const std::function<bool()>& stop);
std::optional<double> norm_by_lanczos(const Matrix& matrix, double tolerance,
                                      const std::function<bool()>& stop);
/// By several vectors at a time, in float; not for float64. At most kBlockColumns columns.
std::optional<double> norm_by_blocks(const Matrix& matrix, double tolerance,
                                     const std::function<bool()>& stop,
                                     const RowSketch* sketch = nullptr);

/// exp of the entropy of the singular values divided by their sum: Roy & Vetterli, "The effective
/// rank", EUSIPCO 2007.
double effective_rank(std::span<const double> singular_values);

}  // namespace param_stats
