#include "core/analysis/rollup.hpp"

#include <algorithm>

#include "core/base/checked.hpp"
#include "core/base/error.hpp"

namespace tmeter::core {
namespace {

/// Collects cells under one aggregation.
class Accumulator {
 public:
  explicit Accumulator(const Column& column) : column_(&column) {}

  /// `at` orders what is added, for the aggregation "last": the index of the node it ends with.
  void add(const tmeter_number& n, double weight, size_t at) {
    if (n.kind == TMETER_NUMBER_UNKNOWN) unknown_ = true;
    if (n.kind == TMETER_NUMBER_UNAVAILABLE) unavailable_ = true;
    if (n.kind == TMETER_NUMBER_ZERO_BY_RULE) zero_ = true;
    if (is_number(n)) add_number(n, weight, at);
  }
  void add(const Accumulator& inside, double weight) { add(inside.result(), weight, inside.at_); }

  tmeter_number result() const {
    if (any_) return column_->aggregation == TMETER_AGGREGATE_WEIGHTED_MEAN ? mean() : value_;
    if (unknown_) return number_of_kind(TMETER_NUMBER_UNKNOWN);
    if (unavailable_) return number_of_kind(TMETER_NUMBER_UNAVAILABLE);
    if (zero_) return number(int64_t{0});
    return {};
  }

 private:
  void add_number(const tmeter_number& n, double weight, size_t at) {
    const bool first = !any_;
    any_ = true;
    weights_ += weight;
    weighted_ += real(n) * weight;
    switch (column_->aggregation) {
      case TMETER_AGGREGATE_SUM:
        value_ = first ? n : sum(value_, n);
        break;
      case TMETER_AGGREGATE_MAX:
        value_ = first || real(n) > real(value_) ? n : value_;
        break;
      case TMETER_AGGREGATE_LAST:
        if (at >= at_) value_ = n;
        break;
    }
    at_ = std::max(at_, at);
  }
  tmeter_number sum(const tmeter_number& a, const tmeter_number& b) const {
    if (a.kind == TMETER_NUMBER_FLOAT || b.kind == TMETER_NUMBER_FLOAT)
      return number(real(a) + real(b));
    const auto s = checked_add(a.i, b.i);
    if (!s) throw Error(ErrorKind::kModel, "the sum of metric '" + column_->id + "' exceeds 2^63");
    return number(*s);
  }
  tmeter_number mean() const {
    return weights_ > 0 ? number(weighted_ / weights_) : number_of_kind(TMETER_NUMBER_NONE);
  }

  const Column* column_;
  tmeter_number value_{};
  double weighted_ = 0, weights_ = 0;
  size_t at_ = 0;
  bool any_ = false, unknown_ = false, unavailable_ = false, zero_ = false;
};

/// What a cell weighs in weighted means; 1 without a weight metric.
class Weights {
 public:
  Weights(const Results& results, const Column& column) : weight_(results.find(column.weight)) {}
  double of(int32_t axis, size_t index) const {
    return weight_ ? real(weight_->cell(axis, index)) : 1.0;
  }

 private:
  const Column* weight_;
};

std::vector<tmeter_number> results_of(const std::vector<Accumulator>& sums) {
  std::vector<tmeter_number> out;
  out.reserve(sums.size());
  for (const auto& s : sums) out.push_back(s.result());
  return out;
}

/// The last node inside each module call. A call comes after its parent, as below.
std::vector<size_t> ends_of(const Graph& graph) {
  std::vector<size_t> ends(graph.calls().size());
  for (const auto& n : graph.nodes()) ends[n.call->index] = n.index;
  for (size_t i = ends.size(); i-- > 0;) {
    if (const auto* parent = graph.calls()[i].parent)
      ends[parent->index] = std::max(ends[parent->index], ends[i]);
  }
  return ends;
}

/// Bottom-up over module calls: a call comes after its parent, so one backward pass suffices.
std::vector<tmeter_number> roll_up_calls(const Graph& graph, const Column& column,
                                         const Weights& weights, const std::vector<size_t>& ends) {
  const auto& given = column.cells[TMETER_AXIS_MODULE_CALL];
  const auto& nodes = column.cells[TMETER_AXIS_NODE];
  std::vector<Accumulator> sums(graph.calls().size(), Accumulator(column));
  for (const auto& n : graph.nodes()) {
    if (n.index < nodes.size())
      sums[n.call->index].add(nodes[n.index], weights.of(TMETER_AXIS_NODE, n.index), n.index);
  }
  std::vector<tmeter_number> out(sums.size());
  for (size_t i = sums.size(); i-- > 0;) {
    const bool is_given = i < given.size() && given[i].kind != TMETER_NUMBER_NONE;
    out[i] = is_given ? given[i] : sums[i].result();
    const auto* parent = graph.calls()[i].parent;
    if (parent) sums[parent->index].add(out[i], weights.of(TMETER_AXIS_MODULE_CALL, i), ends[i]);
  }
  return out;
}

/// A module that is never called itself (ModuleList, ModuleDict) stands for what is inside it.
void fill_containers(const Graph& graph, const Weights& weights,
                     std::vector<Accumulator>& modules) {
  for (size_t i = graph.modules().size(); i-- > 0;) {
    const auto* m = graph.modules()[i];
    if (m->calls > 0) continue;
    for (const auto* child : m->children)
      modules[i].add(modules[child->index], weights.of(TMETER_AXIS_MODULE, child->index));
  }
}

/// The sum of nothing is 0; other aggregations of nothing are nothing.
tmeter_number model_total(const Column& column, const Accumulator& model) {
  const auto total = model.result();
  const bool empty_sum =
      total.kind == TMETER_NUMBER_NONE && column.aggregation == TMETER_AGGREGATE_SUM;
  return empty_sum ? number(int64_t{0}) : total;
}

}  // namespace

void roll_up_nodes(const Graph& graph, const Results& results, Column& column) {
  if (column.aggregation == TMETER_AGGREGATE_NONE) return;
  const Weights weights(results, column);
  const auto ends = ends_of(graph);
  auto calls = roll_up_calls(graph, column, weights, ends);
  std::vector<Accumulator> modules(graph.modules().size(), Accumulator(column));
  Accumulator model(column);
  for (const auto& call : graph.calls()) {
    const auto& value = calls[call.index];
    const auto weight = weights.of(TMETER_AXIS_MODULE_CALL, call.index);
    modules[call.module->index].add(value, weight, ends[call.index]);
    if (!call.parent) model.add(value, weight, ends[call.index]);
  }
  fill_containers(graph, weights, modules);
  column.cells[TMETER_AXIS_MODULE_CALL] = std::move(calls);
  column.cells[TMETER_AXIS_MODULE] = results_of(modules);
  column.cells[TMETER_AXIS_MODEL] = {model_total(column, model)};
}

void roll_up_tensors(const Graph& graph, const Results& results, Column& column) {
  if (column.aggregation == TMETER_AGGREGATE_NONE) return;
  const Weights weights(results, column);
  const auto& cells = column.cells[TMETER_AXIS_TENSOR];
  std::vector<Accumulator> modules(graph.modules().size(), Accumulator(column));
  std::vector<const Tensor*> last(graph.modules().size(), nullptr);  // counted last in this module
  Accumulator model(column);
  std::vector<const Tensor*> order;
  for (const auto& t : graph.tensors()) order.push_back(&t);
  std::stable_sort(order.begin(), order.end(), [](const Tensor* a, const Tensor* b) {
    return a->canonical->index < b->canonical->index;
  });
  for (const auto* t : order) {
    const auto* canonical = t->canonical;
    if (canonical->index >= cells.size()) continue;
    const auto& value = cells[canonical->index];
    const auto weight = weights.of(TMETER_AXIS_TENSOR, canonical->index);
    if (t == canonical) model.add(value, weight, canonical->index);
    for (const Module* m = t->owner; m && last[m->index] != canonical; m = m->parent) {
      last[m->index] = canonical;
      modules[m->index].add(value, weight, canonical->index);
    }
  }
  column.cells[TMETER_AXIS_MODULE] = results_of(modules);
  column.cells[TMETER_AXIS_MODEL] = {model_total(column, model)};
}

}  // namespace tmeter::core
