#include "core/merging/pooled.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tmeter/cpp/dtype.hpp>

#include "core/base/checked.hpp"
#include "core/base/error.hpp"

namespace tmeter::core {
namespace {

constexpr std::string_view kPlugin = "org.tmeter.param-stats";
/// Smaller squares of float64 numbers have lost digits (param_stats/moments.hpp).
constexpr double kMinSquare = 1e-290, kMinVariance = 1e-140;

/// The columns of param-stats. The values index the tables below.
enum Statistic : size_t {
  kMean,
  kStd,
  kMin,
  kMax,
  kSparsity,
  kNearZero,
  kFinite,
  kNan,
  kInf,
  kSkewness,
  kKurtosis,
  kL1,
  kL2,
  kSpectral,
  kCodedBytes,
  kCodedRatio,
  kStatistics
};
constexpr std::array<std::string_view, kStatistics> kIds{
    "mean",    "std",           "min",         "max",        "sparsity", "near_zero",
    "finite",  "nan",           "inf",         "skewness",   "kurtosis", "l1_norm",
    "l2_norm", "spectral_norm", "coded_bytes", "coded_ratio"};
/// Statistics of finite elements. A tensor without finite elements lacks them and does not count.
constexpr std::array kOfFinite{kMean, kStd, kMin, kMax, kNearZero, kSkewness, kKurtosis, kL1, kL2};

using Cells = std::array<tmeter_number, kStatistics>;

tmeter_number unavailable() { return number_of_kind(TMETER_NUMBER_UNAVAILABLE); }

/// Counts of a saved report are untrusted.
int64_t count_of(const tmeter_number& n) {
  constexpr double kMaxCount = 0x1p62;
  return is_known(n) ? static_cast<int64_t>(std::clamp(real(n), 0.0, kMaxCount)) : 0;
}
void add_count(int64_t& to, const tmeter_number& n) {
  const auto sum = checked_add(to, count_of(n));
  if (!sum) throw Error(ErrorKind::kModel, "the tensors have more elements than any file");
  to = *sum;
}
/// The integer whose quotient with `all` is the share.
double counted(const tmeter_number& share, double all) { return std::round(real(share) * all); }

/// Pooled statistics of several tensors. Moments are sums of powers of x - mean.
struct Pool {
  double n = 0, mean = 0, m2 = 0, m3 = 0, m4 = 0;
  double min = 0, max = 0, l1 = 0, zeros = 0, near_zeros = 0;
  int64_t finite = 0, nan = 0, inf = 0, coded = 0;
  double raw_bits = 0;
  std::optional<double> spectral;
  std::array<bool, kStatistics> lost{};  // some tensor lacks the value
  bool any = false, complete = true;
  size_t last = static_cast<size_t>(-1);  // the last tensor that was added

  void add(const Tensor& t, const Cells& c);
  Cells values() const;

 private:
  void add_finite(const Cells& c, double more);
  void add_moments(const Cells& c, double more);
  double elements() const { return n + static_cast<double>(nan) + static_cast<double>(inf); }
};

void Pool::add(const Tensor& t, const Cells& c) {
  if (last == t.index) return;
  last = t.index;
  any = true;
  if (!is_known(c[kFinite]) || !is_known(c[kNan]) || !is_known(c[kInf])) {
    complete = false;
    return;
  }
  const double more = real(c[kFinite]);
  const double all = more + real(c[kNan]) + real(c[kInf]);
  if (more > 0) add_finite(c, more);
  add_count(nan, c[kNan]);
  add_count(inf, c[kInf]);
  lost[kSparsity] |= !is_known(c[kSparsity]);
  zeros += counted(c[kSparsity], all);
  near_zeros += counted(c[kNearZero], all);
  lost[kCodedBytes] |= !is_known(c[kCodedBytes]);
  add_count(coded, c[kCodedBytes]);
  add_count(finite, c[kFinite]);
  raw_bits +=
      static_cast<double>(t.numel) * static_cast<double>(tmeter::DType(t.dtype).bytes()) * 8;
  if (is_known(c[kSpectral])) spectral = std::max(spectral.value_or(0), real(c[kSpectral]));
}

void Pool::add_finite(const Cells& c, double more) {
  const bool constant = real(c[kMin]) == real(c[kMax]);  // skewness and kurtosis do not exist
  for (const auto s : kOfFinite)
    lost[s] |= !is_known(c[s]) && !(constant && (s == kSkewness || s == kKurtosis));
  min = n > 0 ? std::fmin(min, real(c[kMin])) : real(c[kMin]);
  max = n > 0 ? std::fmax(max, real(c[kMax])) : real(c[kMax]);
  l1 += real(c[kL1]);
  add_moments(c, more);
}

/// Pébay, SAND2008-6212, eq. 2.1 and 3.1. The tensor's moments follow from its deviation, skewness
/// and kurtosis; they are 0 if all elements are equal.
void Pool::add_moments(const Cells& c, double more) {
  const bool constant = real(c[kMin]) == real(c[kMax]);
  const double variance = constant ? 0 : real(c[kStd]) * real(c[kStd]);
  const double o2 = variance * more;
  const double o3 = constant ? 0 : real(c[kSkewness]) * std::pow(variance, 1.5) * more;
  const double o4 = constant ? 0 : (real(c[kKurtosis]) + 3) * variance * variance * more;
  const double a = n, b = more, all = a + b, d = real(c[kMean]) - mean, share = d / all;
  m4 += o4 + d * share * share * share * a * b * (a * a - a * b + b * b) +
        6 * share * share * (a * a * o2 + b * b * m2) + 4 * share * (a * o3 - b * m3);
  m3 += o3 + d * share * share * a * b * (a - b) + 3 * share * (a * o2 - b * m2);
  m2 += o2 + d * share * a * b;
  mean += share * b;
  n = all;
}

Cells Pool::values() const {
  Cells out;
  out.fill(unavailable());
  if (!complete) return out;
  const auto give = [&](Statistic s, bool available, double value) {
    if (available && !lost[s] && std::isfinite(value)) out[s] = number(value);
  };
  const bool some = n > 0;
  const double variance = some ? m2 / n : 0, squares = m2 + n * mean * mean;
  const bool square = some && (squares == 0 || (squares / n >= kMinSquare));
  const bool spread = square && (m2 == 0 || variance >= kMinSquare);
  const bool shape = spread && min < max && variance >= kMinVariance && !lost[kStd];
  give(kMean, some, mean);
  give(kStd, spread, std::sqrt(variance));
  give(kMin, some, min);
  give(kMax, some, max);
  give(kSparsity, elements() > 0, zeros / elements());
  give(kNearZero, square, near_zeros / elements());
  give(kSkewness, shape, m3 / n / std::pow(variance, 1.5));
  give(kKurtosis, shape, m4 / n / (variance * variance) - 3);
  give(kL1, some, l1);
  give(kL2, square && !lost[kStd], std::sqrt(squares));
  out[kFinite] = number(finite);
  out[kNan] = number(nan);
  out[kInf] = number(inf);
  out[kSpectral] = spectral ? number(*spectral) : tmeter_number{};
  if (lost[kCodedBytes]) return out;
  out[kCodedBytes] = number(coded);
  out[kCodedRatio] = {};
  if (raw_bits > 0) out[kCodedRatio] = number(static_cast<double>(coded) * 8 / raw_bits);
  return out;
}

class Statistics {
 public:
  explicit Statistics(Results& results) {
    for (auto& c : results.columns) {
      const auto id = std::find(kIds.begin(), kIds.end(), c.id);
      if (c.plugin == kPlugin && id != kIds.end())
        columns_[static_cast<size_t>(id - kIds.begin())] = &c;
    }
  }
  Cells of(size_t tensor) const {
    Cells out;
    for (size_t s = 0; s < kStatistics; ++s)
      out[s] = columns_[s] ? columns_[s]->cell(TMETER_AXIS_TENSOR, tensor) : unavailable();
    return out;
  }
  void give(const Pool& pool, int32_t axis, size_t index, size_t size) const {
    if (!pool.any) return;
    const auto values = pool.values();
    for (size_t s = 0; s < kStatistics; ++s) {
      if (!columns_[s]) continue;
      auto& cells = columns_[s]->cells[static_cast<size_t>(axis)];
      cells.resize(std::max(cells.size(), size));
      cells.set(index, values[s]);
    }
  }
  bool any() const {
    return std::any_of(columns_.begin(), columns_.end(), [](const auto* c) { return c; });
  }

 private:
  std::array<Column*, kStatistics> columns_{};
};

/// Parameters, sorted so that tied ones follow each other.
std::vector<const Tensor*> parameters_of(const Graph& graph) {
  std::vector<const Tensor*> out;
  for (const auto& t : graph.tensors())
    if (t.kind == TMETER_TENSOR_PARAMETER && t.numel > 0) out.push_back(&t);
  std::stable_sort(out.begin(), out.end(), [](const Tensor* a, const Tensor* b) {
    return a->canonical->index < b->canonical->index;
  });
  return out;
}

}  // namespace

bool is_poolable(const Column& column) {
  return column.plugin == kPlugin && std::find(kIds.begin(), kIds.end(), column.id) != kIds.end();
}

void pool_statistics(const Graph& graph, Results& results) {
  const Statistics statistics(results);
  if (!statistics.any()) return;
  std::vector<Pool> modules(graph.modules().size());
  Pool model;
  for (const auto* t : parameters_of(graph)) {
    const auto& canonical = *t->canonical;
    const auto cells = statistics.of(canonical.index);
    for (const Module* m = t->owner; m; m = m->parent) modules[m->index].add(canonical, cells);
    model.add(canonical, cells);
  }
  for (size_t i = 0; i < modules.size(); ++i)
    statistics.give(modules[i], TMETER_AXIS_MODULE, i, modules.size());
  statistics.give(model, TMETER_AXIS_MODEL, 0, 1);
}

}  // namespace tmeter::core
