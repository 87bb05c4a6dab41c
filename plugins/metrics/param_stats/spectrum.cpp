#include "spectrum.hpp"

#include <algorithm>
#include <cmath>

namespace param_stats {

double effective_rank(std::span<const double> singular_values) {
  double sum = 0, entropy = 0;
  for (const double s : singular_values) sum += s;
  for (const double s : singular_values)
    if (s > 0) entropy -= s / sum * std::log(s / sum);
  return std::exp(entropy);
}

std::optional<Spectrum> spectrum_of(const Matrix& matrix, double tolerance,
                                    const std::function<bool()>& stop) {
  if (std::min(matrix.rows, matrix.columns) <= kGramSide) return spectrum_by_gram(matrix, stop);
  const bool by_blocks =
      tolerance >= kBlockTolerance && matrix.dtype.bytes() <= 4 && matrix.columns <= kBlockColumns;
  const auto norm = by_blocks
                        ? norm_by_blocks(matrix, tolerance, stop)
                        : norm_by_lanczos(matrix, std::min(tolerance, kSingleTolerance), stop);
  if (!norm) return std::nullopt;
  return Spectrum{*norm, std::nullopt};
}

}  // namespace param_stats
