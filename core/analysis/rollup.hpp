// Roll-ups: from nodes to module calls, modules and the model; from tensors to modules and the
// model. Follows each metric's aggregation (sdk abi/metric.h). The weights of a mean must have been
// rolled up before.
#pragma once
#include "core/analysis/results.hpp"
#include "core/base/error.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// A sum of figures that is none. Of figures that come from a file the file is to blame; the engine knows
/// when a plugin is.
class Overflow : public Error {
 public:
  explicit Overflow(const std::string& message) : Error(ErrorKind::kModel, message) {}
};

/// Node metrics. Cells of module calls that module handlers gave are kept and stand for everything
/// inside the call. Throws Overflow when an integer sum exceeds 63 bits or a real one is not finite.
void roll_up_nodes(const Graph& graph, const Results& results, Column& column);

/// Tensor metrics: every module and the model count each distinct (canonical) tensor inside once.
void roll_up_tensors(const Graph& graph, const Results& results, Column& column);

}  // namespace tmeter::core
