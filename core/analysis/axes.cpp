#include "core/analysis/axes.hpp"

#include "core/base/error.hpp"

namespace tmeter::core {

size_t axis_size(const Graph& graph, int32_t axis) {
  switch (axis) {
    case TMETER_AXIS_NODE:
      return graph.nodes().size();
    case TMETER_AXIS_MODULE_CALL:
      return graph.calls().size();
    case TMETER_AXIS_MODULE:
      return graph.modules().size();
    case TMETER_AXIS_TENSOR:
      return graph.tensors().size();
    case TMETER_AXIS_MODEL:
      return 1;
    default:
      return 0;
  }
}

void require_target(const Graph& graph, const tmeter_target& target, std::string_view what) {
  if (target.index < axis_size(graph, target.axis)) return;
  throw Error(ErrorKind::kPlugin, std::string(what) + " is about a row that is not there");
}

}  // namespace tmeter::core
