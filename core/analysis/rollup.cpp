#include "core/analysis/rollup.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/base/checked.hpp"
#include "core/base/error.hpp"

namespace tmeter::core {
namespace {

/// Collects cells under one aggregation, and what is missing among them.
class Accumulator {
 public:
  explicit Accumulator(const Column& column) : column_(&column) {}

  /// `node`, the last one in what is added, orders it for the aggregation "last".
  void add(const tmeter_number& n, size_t node, double weight = 1) {
    const auto at = static_cast<uint32_t>(node);
    if (n.kind == TMETER_NUMBER_NONE) return;
    if (n.kind == TMETER_NUMBER_IN_MODULE) {
      elsewhere_ = true;
      elsewhere_at_ = std::max(elsewhere_at_, at);
      return;
    }
    if (!is_known(n)) return add_gap(n.kind != TMETER_NUMBER_UNAVAILABLE, at);
    number_ = number_ || is_number(n);
    partial_ = partial_ || is_partial(n);
    weighted_ += real(n) * weight;
    weights_ += weight;
    combine(is_number(n) ? Figure(n) : Figure(), at);
  }
  /// With a weight that may be missing: a figure that cannot be weighed is none.
  void add(const tmeter_number& n, const tmeter_number& weight, size_t node) {
    const bool is_weighed = weight.kind == TMETER_NUMBER_NONE || is_known(weight);
    if (is_known(n) && !is_weighed)
      return add_gap(weight.kind != TMETER_NUMBER_UNAVAILABLE, static_cast<uint32_t>(node));
    partial_ = partial_ || (is_known(n) && is_partial(weight));
    add(n, node, real(weight));
  }
  /// All that `inside` holds, as if it had been added here.
  void add(const Accumulator& inside) {
    if (inside.unknown_ || inside.unavailable_) {
      unknown_ = unknown_ || inside.unknown_;
      unavailable_ = unavailable_ || inside.unavailable_;
      gap_at_ = std::max(gap_at_, inside.gap_at_);
    }
    elsewhere_ = elsewhere_ || inside.elsewhere_;
    elsewhere_at_ = std::max(elsewhere_at_, inside.elsewhere_at_);
    if (!inside.any_) return;
    weighted_ += inside.weighted_;
    weights_ += inside.weights_;
    combine(inside.value_, inside.at_);
    number_ = number_ || inside.number_;
    partial_ = partial_ || inside.partial_;
  }

  tmeter_number result() const {
    if (column_->aggregation == TMETER_AGGREGATE_LAST) return last();
    // Zeros by rule say nothing of what else is inside.
    if (!number_ && has_gap()) return gap();
    if (!any_) return nothing();
    auto out = column_->aggregation == TMETER_AGGREGATE_WEIGHTED_MEAN ? mean() : value_.number();
    const bool partial = is_number(out) && (has_gap() || partial_ || elsewhere_);
    out.flags = partial ? uint32_t{TMETER_NUMBER_PARTIAL} : 0;
    return out;
  }

 private:
  /// A number, in less than a tmeter_number.
  struct Figure {
    Figure() = default;
    explicit Figure(int64_t i) : payload(i) {}
    explicit Figure(const tmeter_number& n)
        : payload(n.kind == TMETER_NUMBER_FLOAT ? std::bit_cast<int64_t>(n.f) : n.i),
          is_real(n.kind == TMETER_NUMBER_FLOAT),
          is_partial(core::is_partial(n)) {}
    double real() const {
      return is_real ? std::bit_cast<double>(payload) : static_cast<double>(payload);
    }
    tmeter_number number() const {
      auto n = is_real ? core::number(std::bit_cast<double>(payload)) : core::number(payload);
      if (is_partial) n.flags = TMETER_NUMBER_PARTIAL;
      return n;
    }
    int64_t payload = 0;
    bool is_real = false, is_partial = false;
  };

  bool has_gap() const { return unknown_ || unavailable_; }
  tmeter_number nothing() const {
    return number_of_kind(elsewhere_ ? TMETER_NUMBER_IN_MODULE : TMETER_NUMBER_NONE);
  }
  tmeter_number gap() const {
    return number_of_kind(unknown_ ? TMETER_NUMBER_UNKNOWN : TMETER_NUMBER_UNAVAILABLE);
  }
  void add_gap(bool unknown, uint32_t at) {
    (unknown ? unknown_ : unavailable_) = true;
    gap_at_ = std::max(gap_at_, at);
  }
  void combine(const Figure& n, uint32_t at) {
    const bool first = !any_;
    any_ = true;
    switch (column_->aggregation) {
      case TMETER_AGGREGATE_SUM:
        value_ = first ? n : sum(value_, n);
        break;
      case TMETER_AGGREGATE_MAX:
        value_ = first || n.real() > value_.real() ? n : value_;
        break;
      case TMETER_AGGREGATE_LAST:
        if (first || at >= at_) value_ = n;
        break;
    }
    at_ = std::max(at_, at);
  }
  Figure sum(const Figure& a, const Figure& b) const {
    if (a.is_real || b.is_real) return Figure(number(a.real() + b.real()));
    const auto s = checked_add(a.payload, b.payload);
    if (!s) throw Error(ErrorKind::kModel, "the sum of metric '" + column_->id + "' exceeds 2^63");
    return Figure(*s);
  }
  tmeter_number mean() const {
    if (weights_ > 0) return number(weighted_ / weights_);
    return has_gap() ? gap() : tmeter_number{};
  }
  /// What came before the last does not matter, missing or not.
  tmeter_number last() const {
    if (has_gap() && (!any_ || gap_at_ > at_)) return gap();
    if (!any_ || (elsewhere_ && elsewhere_at_ > at_)) return nothing();
    return value_.number();
  }

  const Column* column_;
  Figure value_;
  double weighted_ = 0, weights_ = 0;
  // Of the last figure, of the last that is missing, and of the last that is elsewhere.
  uint32_t at_ = 0, gap_at_ = 0, elsewhere_at_ = 0;
  bool any_ = false, number_ = false;  // a figure; one that is no zero by rule
  bool partial_ = false;
  bool unknown_ = false, unavailable_ = false;
  bool elsewhere_ = false;  // something is in the figure of a module call around it
};

/// What a cell weighs in weighted means; 1 without a weight metric.
class Weights {
 public:
  Weights(const Results& results, const Column& column)
      : weight_(column.aggregation == TMETER_AGGREGATE_WEIGHTED_MEAN ? results.find(column.weight)
                                                                     : nullptr) {}
  void add(const tmeter_number& n, int32_t axis, size_t index, size_t node, Accumulator& to) const {
    if (weight_) return to.add(n, weight_->cell(axis, index), node);
    to.add(n, node);
  }

 private:
  const Column* weight_;
};

Cells results_of(const std::vector<Accumulator>& sums) {
  Cells out;
  out.resize(sums.size());
  for (size_t i = 0; i < sums.size(); ++i) out.set(i, sums[i].result());
  return out;
}

/// The last node inside each module call. A call comes after its parent, as below.
std::vector<size_t> ends_of(const Graph& graph) {
  std::vector<size_t> ends(graph.calls().size());
  const auto& b = graph.belonging();
  for (size_t i = 0; i < b.call_of_node.size(); ++i) ends[b.call_of_node[i]] = i;
  for (size_t i = ends.size(); i-- > 0;) {
    if (const auto parent = b.parent_of_call[i]; parent != Belonging::kNone)
      ends[parent] = std::max(ends[parent], ends[i]);
  }
  return ends;
}

/// Whether a figure of a call was given, by a module handler or – of a metric of calls – an
/// analysis.
bool is_given(const Column& column, const tmeter_number& n) {
  return is_by_module(n) ||
         (column.axis == TMETER_AXIS_MODULE_CALL && n.kind != TMETER_NUMBER_NONE);
}

/// Bottom-up over module calls: a call comes after its parent, so one backward pass suffices. What
/// was given for a call stands for everything inside.
std::vector<Accumulator> roll_up_calls(const Graph& graph, const Column& column,
                                       const Weights& weights) {
  const auto& given = column.cells[TMETER_AXIS_MODULE_CALL];
  const auto& nodes = column.cells[TMETER_AXIS_NODE];
  const auto ends = given.empty() ? std::vector<size_t>() : ends_of(graph);
  std::vector<Accumulator> sums(graph.calls().size(), Accumulator(column));
  const auto& b = graph.belonging();
  for (size_t i = 0; i < std::min(nodes.size(), b.call_of_node.size()); ++i)
    weights.add(nodes[i], TMETER_AXIS_NODE, i, i, sums[b.call_of_node[i]]);
  for (size_t i = sums.size(); i-- > 0;) {
    if (i < given.size() && is_given(column, given[i])) {
      sums[i] = Accumulator(column);
      weights.add(given[i], TMETER_AXIS_MODULE_CALL, i, ends[i], sums[i]);
    }
    if (const auto parent = b.parent_of_call[i]; parent != Belonging::kNone)
      sums[parent].add(sums[i]);
  }
  return sums;
}

/// A module that is never called itself (ModuleList, ModuleDict) stands for what is inside it.
void fill_containers(const Graph& graph, std::vector<Accumulator>& modules) {
  const auto& containers = graph.belonging().containers;
  for (auto m = containers.rbegin(); m != containers.rend(); ++m)
    for (const auto* child : graph.modules()[*m]->children) modules[*m].add(modules[child->index]);
}

/// What module handlers gave stays as it was given, and marks the modules it is of.
void keep_answers(const Graph& graph, const Cells& given, Column& column) {
  if (given.empty()) return;
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
  const auto calls = roll_up_calls(graph, column, Weights(results, column));
  std::vector<Accumulator> modules(graph.modules().size(), Accumulator(column));
  Accumulator model(column);
  const auto& b = graph.belonging();
  for (size_t i = 0; i < calls.size(); ++i) {
    modules[b.module_of_call[i]].add(calls[i]);
    if (b.parent_of_call[i] == Belonging::kNone) model.add(calls[i]);
  }
  fill_containers(graph, modules);
  auto given = std::exchange(column.cells[TMETER_AXIS_MODULE_CALL], results_of(calls));
  column.cells[TMETER_AXIS_MODULE] = results_of(modules);
  column.cells[TMETER_AXIS_MODEL] = {model_total(column, model)};
  keep_answers(graph, given, column);
}

void roll_up_tensors(const Graph& graph, const Results& results, Column& column) {
  if (column.aggregation == TMETER_AGGREGATE_NONE) return;
  const Weights weights(results, column);
  const auto& cells = column.cells[TMETER_AXIS_TENSOR];
  std::vector<Accumulator> modules(graph.modules().size(), Accumulator(column));
  const auto& b = graph.belonging();
  std::vector<uint32_t> last(modules.size(), Belonging::kNone);  // counted last in this module
  Accumulator model(column);
  for (const auto t : b.tensors) {
    const auto canonical = b.canonical_of_tensor[t];
    if (canonical >= cells.size()) continue;
    const auto value = cells[canonical];
    if (t == canonical) weights.add(value, TMETER_AXIS_TENSOR, canonical, canonical, model);
    for (auto m = b.owner_of_tensor[t]; m != Belonging::kNone && last[m] != canonical;
         m = b.parent_of_module[m]) {
      last[m] = canonical;
      weights.add(value, TMETER_AXIS_TENSOR, canonical, canonical, modules[m]);
    }
  }
  column.cells[TMETER_AXIS_MODULE] = results_of(modules);
  column.cells[TMETER_AXIS_MODEL] = {model_total(column, model)};
}

}  // namespace tmeter::core
