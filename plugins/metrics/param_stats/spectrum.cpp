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

namespace {

bool by_blocks(tmeter::DType type, int64_t columns, double tolerance) {
  return tolerance >= kBlockTolerance && type.bytes() <= 4 && columns <= kBlockColumns;
}

}  // namespace

bool wants_sketch(tmeter::DType type, int64_t rows, int64_t columns, double tolerance) {
  return std::min(rows, columns) > kGramSide && columns <= RowSketch::kMostColumns &&
         by_blocks(type, columns, tolerance);
}

std::optional<Spectrum> spectrum_of(const Matrix& matrix, double tolerance,
                                    const std::function<bool()>& stop, const RowSketch* sketch) {
  if (std::min(matrix.rows, matrix.columns) <= kGramSide) return spectrum_by_gram(matrix, stop);
  const auto norm = by_blocks(matrix.dtype, matrix.columns, tolerance)
                        ? norm_by_blocks(matrix, tolerance, stop, sketch)
                        : norm_by_lanczos(matrix, std::min(tolerance, kSingleTolerance), stop);
  if (!norm) return std::nullopt;
  return Spectrum{*norm, std::nullopt};
}

}  // namespace param_stats
