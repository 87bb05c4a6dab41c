// The columns of param-stats in the order of reports: the text that users read of each, and the
// source of its value.
#pragma once
#include <tmeter/cpp/plugin.hpp>

#include "spectrum.hpp"
#include "statistics.hpp"

namespace param_stats {

/// Exactly one function is set. It selects the analysis of the plugin that emits the column.
struct Column {
  tmeter::MetricSpec spec;
  /// Of a tensor and, merged, of the parameters of a module or the model.
  tmeter::Cell (*pooled)(const PooledStatistics&) = nullptr;
  /// Of a tensor only: it does not merge exactly.
  tmeter::Cell (*of_tensor)(const Statistics&, const tmeter::Tensor&) = nullptr;
  /// Of a tensor that is a matrix of finite values; worked out on request.
  tmeter::Cell (*spectral)(const Spectrum&) = nullptr;
};
std::span<const Column> columns();

/// Separated by spaces, the form in which analyses declare their metrics.
std::string ids_where(bool (*applies)(const Column&));

}  // namespace param_stats
