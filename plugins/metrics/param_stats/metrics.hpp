// The metrics of param-stats, as a table: id, words, and how the figure follows.
#pragma once
#include <tmeter/cpp/plugin.hpp>

#include "figures.hpp"

namespace param_stats {

/// Of one tensor and, merged, of the parameters of a module or the model.
struct PooledMetric {
  tmeter::MetricSpec spec;
  tmeter::Cell (*of)(const Pool&);
};
/// Of one tensor only: it cannot be merged exactly.
struct TensorMetric {
  tmeter::MetricSpec spec;
  tmeter::Cell (*of)(const Figures&, const tmeter::Tensor&);
};

std::span<const PooledMetric> pooled_metrics();
std::span<const TensorMetric> tensor_metrics();

/// All ids, separated by spaces, for Registrar::tensor_analysis; of the first kind alone.
const std::string& all_ids();
const std::string& pooled_ids();

}  // namespace param_stats
