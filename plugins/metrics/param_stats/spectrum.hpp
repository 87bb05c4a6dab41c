// Singular values of a tensor as a matrix [dim 0, all others], in double throughout.
//
// All of them follow from the eigenvalues of the Gram matrix of the shorter side. Squaring costs
// half of the digits of small ones: below sqrt(m * 2^-52) of the largest they count as 0. For
// longer sides only the largest is computed, by Lanczos' method on A^T A, whose memory is a few
// vectors.
//
// Sums are added in an order that does not depend on the processor, and without fused operations:
// every processor gives the same digits.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <tmeter/cpp/dtype.hpp>

namespace param_stats {

/// Default limit of the shorter side up to which the effective rank is computed.
constexpr int64_t kDefaultRankSide = 64;
/// Up to this shorter side the Gram matrix is used where Lanczos' method does not converge.
constexpr int64_t kMaxGramSide = 1024;
constexpr double kDefaultTolerance = 1e-6;

struct Matrix {
  int64_t rows, columns;
  tmeter::DType dtype;
  /// Elements [first, first + count) in row-major order, valid until the next call.
  std::function<std::span<const uint8_t>(int64_t first, int64_t count)> read;

  int64_t shorter_side() const { return std::min(rows, columns); }
};

struct Spectrum {
  double norm = 0;         // the largest singular value
  double stable_rank = 0;  // (Frobenius norm / norm)^2; 0 if all elements are 0
  std::optional<double> effective_rank;
};

struct SpectrumOptions {
  double tolerance = kDefaultTolerance;  // relative, of a norm by Lanczos' method
  int64_t rank_side = kDefaultRankSide;  // the largest shorter side with an effective rank
};

struct SpectrumResult {
  std::optional<Spectrum> spectrum;  // nothing: not finite, or Lanczos' method did not converge
  bool finite = true;                // all elements are
};
/// Throws Error(TMETER_CANCELLED) once `stop` returns true.
SpectrumResult spectrum_of(const Matrix& matrix, const SpectrumOptions& options,
                           const std::function<bool()>& stop);

/// The steps, for tests. Elements are divided by `scale`, so that their squares fit a double.
Spectrum spectrum_by_gram(const Matrix& matrix, double scale, const std::function<bool()>& stop);
std::optional<double> norm_by_lanczos(const Matrix& matrix, double scale, double tolerance,
                                      const std::function<bool()>& stop);

/// exp of the entropy of the singular values divided by their sum: Roy & Vetterli, "The effective
/// rank", EUSIPCO 2007.
double effective_rank(std::span<const double> singular_values);

// The inner loops of singular values, by SIMD. The order of additions is fixed and products are
// rounded before they are added, so that every processor gives the same digits.

/// gram += sum over k of p_k p_k^T, lower triangle of an m x m matrix of `stride` elements a row.
/// Row k of the panel is p + k * stride; stride is m rounded up to kGramStep, or more. Elements
/// beyond m are 0.
constexpr size_t kGramStep = 16;
void add_gram(const double* p, size_t rows, size_t m, size_t stride, double* gram);

/// out += A^T (A v); A has rows x columns elements, the rows `columns` apart.
void add_normal_product(const float* a, size_t rows, size_t columns, const double* v, double* out);
void add_normal_product(const double* a, size_t rows, size_t columns, const double* v, double* out);

}  // namespace param_stats
