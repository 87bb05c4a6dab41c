// Roll-ups: from nodes to module calls, modules and the model; from tensors to modules and the
// model. Follows each metric's aggregation (sdk abi/metric.h). The weights of a mean must have been
// rolled up before.
#pragma once
#include "core/analysis/results.hpp"
#include "core/base/error.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// A sum overflows. The message blames the model; the engine decides whether a plugin is to blame.
class Overflow : public Error {
 public:
  explicit Overflow(const std::string& message) : Error(ErrorKind::kModel, message) {}
};

/// Node metrics. A value that a module handler gave to a call is kept and replaces the values
/// inside. Throws Overflow when an integer sum exceeds 63 bits or a real one is not finite.
void roll_up_nodes(const Graph& graph, const Results& results, Column& column);

/// Tensor metrics: every module and the model count each distinct (canonical) tensor inside once.
void roll_up_tensors(const Graph& graph, const Results& results, Column& column);

}  // namespace tmeter::core
