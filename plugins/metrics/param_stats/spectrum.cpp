#include "spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <tmeter/cpp/numbers.hpp>
#include <vector>

namespace param_stats {
namespace {

constexpr int64_t kPiece = int64_t{1} << 16;  // elements decoded at a time

template <class F>
void each_piece(const Matrix& a, const std::function<bool()>& stop, F f) {
  std::vector<double> piece;
  for (int64_t at = 0, all = a.rows * a.columns; at < all; at += kPiece) {
    if (stop()) throw tmeter::Error(TMETER_CANCELLED, "stopped");
    piece.resize(static_cast<size_t>(std::min(all - at, kPiece)));
    tmeter::decode<double>(a.dtype, a.read(at, static_cast<int64_t>(piece.size())),
                           std::span<double>(piece));
    f(std::span<const double>(piece));
  }
}

/// The largest magnitude; infinite or NaN if an element is.
double largest_of(const Matrix& a, const std::function<bool()>& stop) {
  double largest = 0;
  each_piece(a, stop, [&](auto piece) {
    for (const double x : piece)
      if (!(std::fabs(x) <= largest)) largest = std::isnan(largest) ? largest : std::fabs(x);
  });
  return largest;
}

/// The squared Frobenius norm of the matrix divided by `scale`.
double sum_of_squares(const Matrix& a, double scale, const std::function<bool()>& stop) {
  double sum = 0;
  each_piece(a, stop, [&](auto piece) {
    double part = 0;
    for (const double x : piece) part += (x / scale) * (x / scale);
    sum += part;
  });
  return sum;
}

}  // namespace

double effective_rank(std::span<const double> singular_values) {
  double sum = 0, entropy = 0;
  for (const double s : singular_values) sum += s;
  for (const double s : singular_values)
    if (s > 0) entropy -= s / sum * std::log(s / sum);
  return std::exp(entropy);
}

SpectrumResult spectrum_of(const Matrix& matrix, const SpectrumOptions& options,
                           const std::function<bool()>& stop) {
  const double largest = largest_of(matrix, stop);
  if (!std::isfinite(largest)) return {std::nullopt, false};
  if (largest == 0) return {Spectrum{}, true};
  // Only squares of float64 may not fit a double. Dividing by a power of two loses no digit.
  const bool is_double = matrix.dtype.id() == TMETER_DTYPE_FLOAT64;
  const double scale = is_double ? std::exp2(std::ilogb(largest)) : 1;
  const int64_t side = matrix.shorter_side();
  Spectrum out;
  if (side <= options.rank_side) {
    out = spectrum_by_gram(matrix, scale, stop);
  } else if (const auto norm = norm_by_lanczos(matrix, scale, options.tolerance, stop)) {
    out.norm = *norm;
  } else if (side <= kMaxGramSide) {
    out.norm = spectrum_by_gram(matrix, scale, stop).norm;
  } else {
    return {};
  }
  const double norm = out.norm / scale;
  out.stable_rank = sum_of_squares(matrix, scale, stop) / (norm * norm);
  return {out, true};
}

}  // namespace param_stats
