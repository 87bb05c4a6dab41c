#include "lower_bounds.hpp"

#include <algorithm>

namespace reports {

using tmeter::Metric;
using tmeter::Report;

LowerBounds::LowerBounds(const Report& report, const std::vector<Metric>& metrics)
    : metrics_(metrics),
      width_(metrics.size()),
      modules_(std::max<size_t>(report.graph().modules().size(), 1)),
      partial_(modules_ * width_, false) {
  for (size_t m = 0; m < width_; ++m) find(report, m);
}

bool LowerBounds::any() const {
  return std::find(partial_.begin(), partial_.end(), true) != partial_.end();
}

void LowerBounds::find(const Report& report, size_t metric) {
  if (metrics_[metric].axis() == TMETER_AXIS_NODE) {
    for (const auto& node : report.graph().nodes()) {
      if (!report.cell(metrics_[metric], node).is_unknown()) continue;
      mark(0, metric);
      for (auto call = node.call(); call; call = call.parent()) mark(call.module().index(), metric);
    }
  } else if (metrics_[metric].axis() == TMETER_AXIS_TENSOR) {
    for (const auto& tensor : report.graph().tensors()) {
      if (!report.cell(metrics_[metric], tensor).is_unknown()) continue;
      mark(0, metric);
      for (auto m = tensor.owner(); m; m = m.parent()) mark(m.index(), metric);
    }
  }
}

void LowerBounds::mark(size_t module, size_t metric) { partial_[module * width_ + metric] = true; }

Reading LowerBounds::reading(const Report& report, const tmeter::Module& module,
                             size_t metric) const {
  const auto index = module.index();
  if (index == 0) return total(report, metric);
  const auto cell = report.cell(metrics_[metric], module);
  return {cell, cell.known() && partial(index, metric)};
}

Reading LowerBounds::total(const Report& report, size_t metric) const {
  const auto cell = report.total(metrics_[metric]);
  return {cell, cell.known() && partial(0, metric)};
}

}  // namespace reports
