#include "findings.hpp"

#include <algorithm>
#include <tmeter/cpp/units.hpp>

#include "plugins/common/wording.hpp"

namespace reports {

std::string describe_change(const tmeter::Report& report, const tmeter_change& change) {
  for (const auto& m : report.metrics()) {
    if (m.id() != tmeter::to_view(change.metric)) continue;
    const auto text = [&](double v) { return tmeter::scaled(v, m.unit_kind(), m.unit()).text(); };
    return std::string(m.title()) + " " + text(change.from) + " → " + text(change.to);
  }
  return {};
}

std::string describe_target(const tmeter::Graph& graph, const tmeter_target& target) {
  switch (target.axis) {
    case TMETER_AXIS_NODE:
      return plugins::place(graph.nodes()[target.index]);
    case TMETER_AXIS_MODULE:
      return std::string(graph.modules()[target.index].path());
    case TMETER_AXIS_MODULE_CALL:
      return std::string(graph.module_calls()[target.index].module().path());
    case TMETER_AXIS_TENSOR:
      return std::string(graph.tensors()[target.index].name());
    default:
      return {};
  }
}

FindingsByRow::FindingsByRow(const tmeter::Report& report) {
  size_t i = 0;
  for (const auto& finding : report.findings()) {
    for (const auto& target : finding.targets()) {
      if (target.axis == TMETER_AXIS_MODEL) continue;
      auto& row = rows_[{target.axis, target.index}];
      if (row.empty() || row.back() != i) row.push_back(i);
    }
    ++i;
  }
}

const std::vector<size_t>& FindingsByRow::of(int32_t axis, size_t index) const {
  static const std::vector<size_t> kNone;
  const auto at = rows_.find({axis, index});
  return at == rows_.end() ? kNone : at->second;
}

namespace {

void collect(const tmeter::Value& value, std::vector<tmeter::Tensor>& out) {
  if (value.is_list()) {
    for (size_t i = 0; i < value.size(); ++i) collect(value[i], out);
    return;
  }
  const auto tensor = value.tensor();
  if (!tensor) return;
  const auto same = [&](const tmeter::Tensor& t) { return t.index() == tensor.index(); };
  if (std::none_of(out.begin(), out.end(), same)) out.push_back(tensor);
}

}  // namespace

std::vector<tmeter::Tensor> tensors_of(const tmeter::Node& node) {
  std::vector<tmeter::Tensor> out;
  for (size_t i = 0; i < node.arg_count(); ++i) collect(node.arg(i), out);
  return out;
}

int64_t parameters_of(const tmeter::Node& node) {
  int64_t elements = 0;
  for (const auto& t : tensors_of(node))
    if (t.is_parameter()) elements += t.numel().value();
  return elements;
}

}  // namespace reports
