#include "core/analysis/rollup.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/analysis/accumulator.hpp"
#include "core/base/error.hpp"

namespace tmeter::core {
namespace {

template <int32_t kAggregation>
using Sums = std::vector<Accumulator<kAggregation>>;

/// The weight of a cell in a weighted mean; 1 without a weight metric.
class Weights {
 public:
  Weights(const Results& results, const Column& column)
      : weight_(column.aggregation == TMETER_AGGREGATE_WEIGHTED_MEAN ? results.find(column.weight)
                                                                     : nullptr) {}
  template <int32_t kAggregation>
  void add(const tmeter_number& n, int32_t axis, size_t index, size_t node,
           Accumulator<kAggregation>& to) const {
    if (weight_) return to.add(n, weight_->cell(axis, index), node);
    to.add(n, node);
  }

 private:
  const Column* weight_;
};

template <int32_t kAggregation>
Cells results_of(const Sums<kAggregation>& sums) {
  Cells out;
  out.resize(sums.size());
  size_t i = 0;
  for (const auto& sum : sums) out.set(i++, sum.result());
  return out;
}

/// Calls `work` for a column's aggregation, if it has one.
template <class Work>
void by_aggregation(const Column& column, const Work& work) {
  try {
    switch (column.aggregation) {
      case TMETER_AGGREGATE_SUM:
        return work.template operator()<TMETER_AGGREGATE_SUM>();
      case TMETER_AGGREGATE_MAX:
        return work.template operator()<TMETER_AGGREGATE_MAX>();
      case TMETER_AGGREGATE_LAST:
        return work.template operator()<TMETER_AGGREGATE_LAST>();
      case TMETER_AGGREGATE_WEIGHTED_MEAN:
        return work.template operator()<TMETER_AGGREGATE_WEIGHTED_MEAN>();
      default:  // TMETER_AGGREGATE_NONE
        return;
    }
  } catch (const SumOverflow& overflow) {
    throw Overflow("the sum of metric '" + column.id + "' " +
                   (overflow.is_real ? "is not a finite number" : "exceeds 2^63"));
  }
}

/// The last node inside each module call.
std::vector<size_t> ends_of(const Graph& graph) {
  std::vector<size_t> ends(graph.calls().size());
  for (const auto& node : graph.nodes())
    for (const auto* call = node.call; call; call = call->parent) ends[call->index] = node.index;
  return ends;
}

/// Whether a module handler, or the analysis of a metric of calls, gave the value of a call.
bool is_given(const Column& column, const tmeter_number& n) {
  return is_by_module(n) ||
         (column.axis == TMETER_AXIS_MODULE_CALL && n.kind != TMETER_NUMBER_NONE);
}

/// Bottom-up over module calls: a call comes after its parent, so one backward pass suffices. A
/// given value of a call replaces the values inside it.
template <int32_t kAggregation>
Sums<kAggregation> roll_up_calls(const Graph& graph, const Column& column, const Weights& weights) {
  const auto& given = column.cells[TMETER_AXIS_MODULE_CALL];
  const auto& nodes = column.cells[TMETER_AXIS_NODE];
  const auto ends = given.empty() ? std::vector<size_t>() : ends_of(graph);
  Sums<kAggregation> sums(graph.calls().size());
  const auto& b = graph.ownership();
  for (size_t i = 0; i < std::min(nodes.size(), b.call_of_node.size()); ++i)
    weights.add(nodes[i], TMETER_AXIS_NODE, i, i, sums[b.call_of_node[i]]);
  for (size_t i = sums.size(); i-- > 0;) {
    if (i < given.size() && is_given(column, given[i])) {
      sums[i] = {};
      weights.add(given[i], TMETER_AXIS_MODULE_CALL, i, ends[i], sums[i]);
    }
    if (const auto parent = b.parent_of_call[i]; parent != OwnershipColumns::kNone)
      sums[parent].add(sums[i]);
  }
  return sums;
}

/// A module that is never called (ModuleList, ModuleDict) has the sum of its children.
template <int32_t kAggregation>
void fill_containers(const Graph& graph, Sums<kAggregation>& modules) {
  const auto& containers = graph.ownership().containers;
  for (auto m = containers.rbegin(); m != containers.rend(); ++m)
    for (const auto* child : graph.modules()[*m]->children) modules[*m].add(modules[child->index]);
}

/// Restores the values of module handlers, and marks modules all of whose calls have one.
void keep_answers(const Graph& graph, const Cells& given, Column& column) {
  std::vector<size_t> answered(graph.modules().size());
  for (const auto& call : graph.calls()) {
    if (call.index >= given.size() || !is_by_module(given[call.index])) continue;
    column.cells[TMETER_AXIS_MODULE_CALL].set(call.index, given[call.index]);
    ++answered[call.module->index];
  }
  for (const auto* m : graph.modules())
    if (answered[m->index] > 0 && answered[m->index] == m->calls)
      column.cells[TMETER_AXIS_MODULE].mark(m->index, TMETER_NUMBER_BY_MODULE);
}

/// An empty sum is 0; other empty aggregations have no value.
template <int32_t kAggregation>
tmeter_number model_total(const Accumulator<kAggregation>& model) {
  const auto total = model.result();
  const bool empty_sum = total.kind == TMETER_NUMBER_NONE && kAggregation == TMETER_AGGREGATE_SUM;
  return empty_sum ? number(int64_t{0}) : total;
}

template <int32_t kAggregation>
void add_up_nodes(const Graph& graph, const Results& results, Column& column) {
  auto& of_calls = column.cells[TMETER_AXIS_MODULE_CALL];
  if (graph.nodes().empty() && of_calls.empty()) {  // a file of weights has no operators to sum
    of_calls.resize(graph.calls().size());
    column.cells[TMETER_AXIS_MODULE].assign(graph.modules().size(), {});
    column.cells[TMETER_AXIS_MODEL] = {model_total(Accumulator<kAggregation>())};
    return;
  }
  const auto calls = roll_up_calls<kAggregation>(graph, column, Weights(results, column));
  Sums<kAggregation> modules(graph.modules().size());
  Accumulator<kAggregation> model;
  const auto& b = graph.ownership();
  for (size_t i = 0; i < calls.size(); ++i) {
    modules[b.module_of_call[i]].add(calls[i]);
    if (b.parent_of_call[i] == OwnershipColumns::kNone) model.add(calls[i]);
  }
  fill_containers<kAggregation>(graph, modules);
  const auto given = std::exchange(of_calls, results_of<kAggregation>(calls));
  column.cells[TMETER_AXIS_MODULE] = results_of<kAggregation>(modules);
  column.cells[TMETER_AXIS_MODEL] = {model_total(model)};
  keep_answers(graph, given, column);
}

template <int32_t kAggregation>
void add_up_tensors(const Graph& graph, const Results& results, Column& column) {
  const Weights weights(results, column);
  const auto& cells = column.cells[TMETER_AXIS_TENSOR];
  Sums<kAggregation> modules(graph.modules().size());
  const auto& b = graph.ownership();
  std::vector<uint32_t> last(modules.size(),
                             OwnershipColumns::kNone);  // counted last in this module
  Accumulator<kAggregation> model;
  for (const auto t : b.tensors) {
    const auto canonical = b.canonical_of_tensor[t];
    if (canonical >= cells.size()) continue;
    const auto value = cells[canonical];
    if (t == canonical) weights.add(value, TMETER_AXIS_TENSOR, canonical, canonical, model);
    for (auto m = b.owner_of_tensor[t]; m != OwnershipColumns::kNone && last[m] != canonical;
         m = b.parent_of_module[m]) {
      last[m] = canonical;
      weights.add(value, TMETER_AXIS_TENSOR, canonical, canonical, modules[m]);
    }
  }
  column.cells[TMETER_AXIS_MODULE] = results_of<kAggregation>(modules);
  column.cells[TMETER_AXIS_MODEL] = {model_total(model)};
}

}  // namespace

void roll_up_nodes(const Graph& graph, const Results& results, Column& column) {
  by_aggregation(
      column, [&]<int32_t kAggregation>() { add_up_nodes<kAggregation>(graph, results, column); });
}

void roll_up_tensors(const Graph& graph, const Results& results, Column& column) {
  by_aggregation(column, [&]<int32_t kAggregation>() {
    add_up_tensors<kAggregation>(graph, results, column);
  });
}

}  // namespace tmeter::core
