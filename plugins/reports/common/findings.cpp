#include "findings.hpp"

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

}  // namespace reports
