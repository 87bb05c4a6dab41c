#include "statistics.hpp"
#include "tensor_statistics.hpp"

namespace param_stats {
namespace {

using tmeter::Cell;
using tmeter::Count;
using tmeter::MetricSpec;
using tmeter::Tensor;

constexpr uint32_t kColumn = TMETER_METRIC_TENSORS;
constexpr uint32_t kDetail = TMETER_METRIC_TENSORS | TMETER_METRIC_DETAIL;
constexpr uint32_t kOnRequest = kDetail | TMETER_METRIC_ON_REQUEST;

MetricSpec metric(std::string_view id, std::string_view title, uint32_t flags, int32_t kind,
                  std::string_view convention) {
  return {.id = id,
          .title = title,
          .unit = kind == TMETER_UNIT_BYTE ? "B" : "",
          .unit_kind = kind,
          .axis = TMETER_AXIS_TENSOR,
          .aggregation = TMETER_AGGREGATE_NONE,
          .better = TMETER_BETTER_NEITHER,
          .flags = flags,
          .convention = convention};
}
constexpr int32_t kReal = TMETER_UNIT_OTHER, kCount = TMETER_UNIT_COUNT, kShare = TMETER_UNIT_RATIO,
                  kBytes = TMETER_UNIT_BYTE;

Cell real(double v) { return std::isfinite(v) ? Cell(v) : Cell::unavailable(); }
Cell count(uint64_t n) { return Count(static_cast<int64_t>(n)); }
Cell share(uint64_t n, uint64_t of) {
  return of ? Cell(static_cast<double>(n) / static_cast<double>(of)) : Cell();
}
/// A value that finite elements have; without any it is unavailable.
template <class P, class F>
Cell of_finite(const P& p, F f) {
  return p.moments.n > 0 ? real(f(p)) : Cell::unavailable();
}
/// Skewness and kurtosis mean nothing if all elements are equal.
template <class F>
Cell of_spread(const PooledStatistics& p, F f) {
  return p.moments.n > 0 && p.moments.has_shape() && p.min < p.max ? real(f(p.moments))
                                                                   : Cell::unavailable();
}
Cell norm(const PooledStatistics& p) {
  if (p.moments.n == 0 || !p.moments.has_squares()) return Cell::unavailable();
  return real(std::sqrt(p.moments.sum_of_squares()));
}
Cell deviation(const PooledStatistics& p) {
  if (p.moments.n == 0 || !p.moments.has_variance()) return Cell::unavailable();
  return real(p.moments.deviation());
}
Cell near_zero(const PooledStatistics& p) {
  if (p.moments.n == 0 || !p.has_near_zeros || !p.moments.has_squares()) return Cell::unavailable();
  return share(p.near_zeros, p.elements());
}
Cell coded_bytes(const PooledStatistics& p) {
  if (std::isnan(p.coded_bits)) return Cell::unavailable();
  return count(static_cast<uint64_t>(std::ceil(p.coded_bits / 8)));
}
Cell coded_ratio(const PooledStatistics& p) {
  if (std::isnan(p.coded_bits)) return Cell::unavailable();
  return p.raw_bits > 0 ? real(std::ceil(p.coded_bits / 8) * 8 / p.raw_bits) : Cell();
}

template <size_t I>
Cell quantile(const Statistics& f, const Tensor&) {
  return of_finite(f, [](const Statistics& g) { return g.quantiles[I]; });
}

Cell entropy(const Statistics& f, const Tensor&) {
  if (f.constant()) return 0.0;
  return f.binned ? Cell(f.entropy) : Cell::unavailable();
}
/// The largest power of two up to 4096 that divides the offset of the first byte.
Cell alignment(const Statistics&, const Tensor& t) {
  const int64_t at = t.file_offset();
  if (at < 0) return Cell();
  return Count(at == 0 ? 4096 : std::min<int64_t>(at & -at, 4096));
}

/// Whether each slice of dim 0 is contiguous, in row-major order.
bool rows_lie_together(const Tensor& t) {
  const auto shape = t.shape(), strides = t.strides();
  int64_t expected = 1;
  for (int64_t i = shape.rank() - 1; i > 0; --i) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}
Cell line_use(const Statistics&, const Tensor& t) {
  const auto shape = t.shape();
  if (t.file_offset() < 0 || t.is_encoded() || shape.rank() < 2 || !rows_lie_together(t))
    return Cell();
  const int64_t size = t.dtype().bytes(), rows = shape.front();
  return real(cache_line_use(t.file_offset(), t.numel().value() / rows * size,
                             t.strides().front() * size, rows));
}

/// A matrix of zeros has no rank; of a larger matrix it is unavailable.
Cell effective_rank_of(const Spectrum& s) {
  if (s.norm == 0) return Cell();
  return s.effective_rank ? real(*s.effective_rank) : Cell::unavailable();
}

constexpr std::string_view kQuantileText =
    "exact order statistics of the finite values, linear between neighbours (NumPy's default)";

}  // namespace

std::span<const Column> columns() {
  static const std::array<Column, 28> table{{
      {.spec = metric("mean", "mean", kColumn, kReal, "mean of the finite values"),
       .pooled =
           [](const PooledStatistics& p) {
             return of_finite(p, [](auto& f) { return f.moments.average(); });
           }},
      {.spec = metric("std", "std", kColumn, kReal,
                      "standard deviation of the finite values, of the population (ddof=0)"),
       .pooled = deviation},
      {.spec = metric("min", "min", kColumn, kReal, "smallest finite value"),
       .pooled =
           [](const PooledStatistics& p) { return of_finite(p, [](auto& f) { return f.min; }); }},
      {.spec = metric("max", "max", kColumn, kReal, "largest finite value"),
       .pooled =
           [](const PooledStatistics& p) { return of_finite(p, [](auto& f) { return f.max; }); }},
      {.spec =
           metric("sparsity", "sparsity", kColumn, kShare, "share of elements that are exactly 0"),
       .pooled = [](const PooledStatistics& p) { return share(p.zeros, p.elements()); }},
      {.spec = metric(
           "near_zero", "near 0", kDetail, kShare,
           "share of elements with |x| <= threshold x root mean square of their tensor, zeros "
           "included (param-stats.threshold)"),
       .pooled = near_zero},
      {.spec = metric("finite", "finite", kDetail, kCount,
                      "elements that are neither NaN nor infinite"),
       .pooled = [](const PooledStatistics& p) { return count(p.moments.n); }},
      {.spec = metric("nan", "NaN", kDetail, kCount, "elements that are NaN"),
       .pooled = [](const PooledStatistics& p) { return count(p.nan); }},
      {.spec = metric("inf", "inf", kDetail, kCount, "elements that are infinite"),
       .pooled = [](const PooledStatistics& p) { return count(p.inf); }},
      {.spec = metric("skewness", "skewness", kDetail, kReal,
                      "third central moment / std^3 of the finite values (scipy.stats.skew)"),
       .pooled =
           [](const PooledStatistics& p) {
             return of_spread(p, [](auto& m) { return m.skewness(); });
           }},
      {.spec = metric(
           "kurtosis", "kurtosis", kDetail, kReal,
           "fourth central moment / std^4 - 3 of the finite values: 0 for a normal distribution "
           "(scipy.stats.kurtosis)"),
       .pooled =
           [](const PooledStatistics& p) {
             return of_spread(p, [](auto& m) { return m.kurtosis(); });
           }},
      {.spec = metric("l1_norm", "L1", kDetail, kReal, "sum of |x| of the finite values"),
       .pooled =
           [](const PooledStatistics& p) { return of_finite(p, [](auto& f) { return f.l1; }); }},
      {.spec = metric(
           "l2_norm", "L2", kDetail, kReal,
           "square root of the sum of x^2 of the finite values: the Frobenius norm of a matrix"),
       .pooled = norm},
      {.spec = metric(
           "spectral_norm", "spectral", kOnRequest, kReal,
           "largest singular value of the tensor as a matrix [dim 0, the other dims]; of a module "
           "the largest inside. If the shorter side exceeds 64 (param-stats.effective-rank), by "
           "Lanczos' method to 1e-6 (param-stats.spectral-tolerance)"),
       .spectral = [](const Spectrum& s) { return real(s.norm); }},
      {.spec = metric("coded_bytes", "coded", kDetail, kBytes,
                      "size after byte shuffling and an ideal order-0 entropy coder: for each byte "
                      "position, elements x entropy of the bytes there"),
       .pooled = coded_bytes},
      {.spec =
           metric("coded_ratio", "coded share", kDetail, kShare, "coded_bytes / bytes as stored"),
       .pooled = coded_ratio},
      {.spec = metric(
           "entropy", "entropy", kDetail, kReal,
           "entropy of the finite values in bits, over 256 bins of equal width from min to max"),
       .of_tensor = entropy},
      {.spec = metric("q01", "1 %", kDetail, kReal, kQuantileText), .of_tensor = quantile<0>},
      {.spec = metric("q05", "5 %", kDetail, kReal, kQuantileText), .of_tensor = quantile<1>},
      {.spec = metric("q25", "25 %", kDetail, kReal, kQuantileText), .of_tensor = quantile<2>},
      {.spec = metric("median", "median", kDetail, kReal, kQuantileText), .of_tensor = quantile<3>},
      {.spec = metric("q75", "75 %", kDetail, kReal, kQuantileText), .of_tensor = quantile<4>},
      {.spec = metric("q95", "95 %", kDetail, kReal, kQuantileText), .of_tensor = quantile<5>},
      {.spec = metric("q99", "99 %", kDetail, kReal, kQuantileText), .of_tensor = quantile<6>},
      {.spec =
           metric("stable_rank", "stable rank", kOnRequest, kReal, "(l2_norm / spectral_norm)^2"),
       .spectral = [](const Spectrum& s) { return s.norm > 0 ? real(s.stable_rank) : Cell(); }},
      {.spec = metric(
           "effective_rank", "effective rank", kOnRequest, kReal,
           "exp of the entropy of the singular values divided by their sum (Roy & Vetterli 2007); "
           "only where the shorter side is at most 64 (param-stats.effective-rank). Singular "
           "values that the Gram matrix cannot distinguish from 0 count as 0"),
       .spectral = effective_rank_of},
      {.spec = metric(
           "alignment", "alignment", kDetail, kBytes,
           "largest power of two, at most 4,096, that divides the file offset of the first byte"),
       .of_tensor = alignment},
      {.spec = metric(
           "cache_line_use", "line use", kDetail, kShare,
           "bytes of a row (slice of dim 0) over the bytes of the 64-byte cache lines it touches "
           "in the mapped file, on average: 100 % when no line is shared or padded"),
       .of_tensor = line_use},
  }};
  return table;
}

std::string ids_where(bool (*applies)(const Column&)) {
  std::string ids;
  for (const auto& c : columns())
    if (applies(c)) ids.append(ids.empty() ? "" : " ").append(c.spec.id);
  return ids;
}

}  // namespace param_stats
