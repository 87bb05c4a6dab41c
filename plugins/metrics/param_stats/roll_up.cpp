// Modules and the model: their parameters taken together, each distinct tensor once, as
// module.parameters() does. Buffers and constants have only their own cells.
#include <functional>

#include "tensor_statistics.hpp"

namespace param_stats {
namespace {

/// Parameters, sorted so that those with shared memory are adjacent.
std::vector<tmeter::Tensor> parameters_of(const tmeter::Graph& graph) {
  std::vector<tmeter::Tensor> out;
  for (const auto& t : graph.tensors())
    if (t.is_parameter() && t.numel() > tmeter::Count(0)) out.push_back(t);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.canonical().index() < b.canonical().index();
  });
  return out;
}

/// Statistics of one module or of the model.
template <class Merged>
struct Rolled {
  Merged merged{};
  bool any = false, complete = true;
  size_t last = static_cast<size_t>(-1);  // the canonical tensor added last
};

/// merge(merged, tensor) returns false if the tensor's elements could not be read;
/// emit(rolled, axis, index) follows for the model and every module that has parameters.
template <class Merged, class Merge, class Emit>
void roll_up_parameters(const tmeter::Graph& graph, Merge merge, Emit emit) {
  std::vector<Rolled<Merged>> modules(graph.modules().size());
  Rolled<Merged> model;
  for (const auto& t : parameters_of(graph)) {
    const auto canonical = t.canonical();
    const auto add = [&](Rolled<Merged>& to) {
      if (to.last == canonical.index()) return;
      to.last = canonical.index();
      to.any = true;
      if (!merge(to.merged, canonical)) to.complete = false;
    };
    for (auto m = t.owner(); m; m = m.parent()) add(modules[m.index()]);
    add(model);
  }
  for (size_t i = 0; i < modules.size(); ++i)
    if (modules[i].any) emit(modules[i], TMETER_AXIS_MODULE, i);
  if (model.any) emit(model, TMETER_AXIS_MODEL, 0);
}

}  // namespace

void roll_up(const tmeter::Graph& graph, tmeter::Call& call) {
  const auto& statistics = run_results().statistics;
  const auto merge = [&](PooledStatistics& to, const tmeter::Tensor& tensor) {
    const auto found = statistics.find(tensor.index());
    if (found != statistics.end()) to.merge(found->second);
    return found != statistics.end();
  };
  const auto emit = [&](const Rolled<PooledStatistics>& rolled, int32_t axis, size_t index) {
    for (const auto& c : columns())
      if (c.pooled)
        call.emit(c.spec.id, axis, index,
                  rolled.complete ? c.pooled(rolled.merged) : tmeter::Cell::unavailable());
  };
  roll_up_parameters<PooledStatistics>(graph, merge, emit);
}

void roll_up_norms(const tmeter::Graph& graph, tmeter::Call& call) {
  const auto& results = run_results();
  if (results.statistics.empty()) return;
  using Largest = std::optional<double>;
  const auto merge = [&](Largest& to, const tmeter::Tensor& tensor) {
    const auto norm = results.norms.find(tensor.index());
    if (norm != results.norms.end()) to = std::max(to.value_or(0), norm->second);
    return results.statistics.contains(tensor.index());
  };
  const auto emit = [&](const Rolled<Largest>& rolled, int32_t axis, size_t index) {
    if (rolled.complete && !rolled.merged) return;
    call.emit("spectral_norm", axis, index,
              rolled.complete ? tmeter::Cell(*rolled.merged) : tmeter::Cell::unavailable());
  };
  roll_up_parameters<Largest>(graph, merge, emit);
}

}  // namespace param_stats
