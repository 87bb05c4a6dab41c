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

bool wants_sketch(tmeter::DType type, int64_t rows, int64_t columns, const Wanted& wanted) {
  return std::min(rows, columns) > wanted.rank_side && columns <= RowSketch::kMostColumns &&
         by_blocks(type, columns, wanted.tolerance);
}

std::optional<Spectrum> spectrum_of(const Matrix& matrix, const Wanted& wanted,
                                    const std::function<bool()>& stop, const RowSketch* sketch) {
  const int64_t side = std::min(matrix.rows, matrix.columns);
  if (side <= wanted.rank_side) return spectrum_by_gram(matrix, stop);
  const bool blocks = by_blocks(matrix.dtype, matrix.columns, wanted.tolerance);
  std::optional<double> norm;
  if (blocks) norm = norm_by_blocks(matrix, wanted.tolerance, stop, sketch);
  if (!norm && side <= kGramSide)
    norm = spectrum_by_gram(matrix, stop).norm;
  else if (!blocks)
    norm = norm_by_lanczos(matrix, std::min(wanted.tolerance, kSingleTolerance), stop);
  if (!norm) return std::nullopt;
  return Spectrum{*norm, std::nullopt};
}

}  // namespace param_stats
