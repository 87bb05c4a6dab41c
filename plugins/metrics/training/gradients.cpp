#include "gradients.hpp"

#include <algorithm>
#include <tmeter/cpp/op_class.hpp>

#include "derivatives.hpp"

namespace training {
namespace {

using tmeter::DTypeClass;
using tmeter::Node;
using tmeter::OpClass;
using tmeter::Tensor;
using tmeter::Value;

bool is_real(tmeter::DType dtype) {
  return dtype.kind() == DTypeClass::kFloat || dtype.kind() == DTypeClass::kComplex;
}

/// Whether results are new values, or detached from the graph of gradients.
bool stops_gradient(std::string_view op) {
  constexpr std::string_view kStops[] = {"detach",    "detach_copy", "alias_copy_detached",
                                         "bernoulli", "sign",        "floor",
                                         "ceil",      "round",       "trunc"};
  const auto kind = tmeter::op_class(op);
  if (kind == OpClass::kCreation || kind == OpClass::kControl) return true;
  return std::find(std::begin(kStops), std::end(kStops), tmeter::base_name(op)) != std::end(kStops);
}

}  // namespace

bool matches(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0, star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p, ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Gradients::Gradients(const tmeter::Graph& graph, const tmeter::Call& call)
    : adapters_(graph, call.option_text("lora")) {
  choose_parameters(graph, call.option_text("frozen"));
  passes_.reserve(graph.nodes().size());
  for (const auto& node : graph.nodes()) {
    const bool needs = flows_into(node);
    passes_.push_back(needs);
    if (needs && !node.op().starts_with("aten::")) call_rule(node, call);
    mark_results(node, needs);
  }
  find_nodes_reached_by_backward(graph);
}

/// Goes backwards from the outputs. Views and writes into them count for their base.
void Gradients::find_nodes_reached_by_backward(const tmeter::Graph& graph) {
  std::unordered_set<const tmeter_value*> required;
  const auto require = [&](const auto& self, const Value& value) -> void {
    if (value.is_tensor()) required.insert(root_of(value));
    for (size_t i = 0; i < value.size(); ++i) self(self, value[i]);
  };
  const auto is_required = [&](const auto& self, const Value& value) -> bool {
    if (value.is_tensor() && required.contains(root_of(value))) return true;
    for (size_t i = 0; i < value.size(); ++i)
      if (self(self, value[i])) return true;
    return false;
  };
  for (const auto& output : graph.outputs()) require(require, output);
  const auto nodes = graph.nodes();
  reached_.resize(nodes.size());
  for (size_t i = nodes.size(); i-- > 0;) {
    const auto node = nodes[i];
    bool leads = tmeter::is_in_place(node.op()) && node.arg_count() > 0 &&
                 is_required(is_required, node.arg(size_t{0}));
    for (size_t k = 0; k < node.result_count() && !leads; ++k)
      leads = is_required(is_required, node.result(k));
    if (!leads || !passes_[i]) continue;
    reached_[i] = true;
    for (size_t k = 0; k < node.arg_count(); ++k) require(require, node.arg(k));
  }
}

void Gradients::choose_parameters(const tmeter::Graph& graph, std::string_view frozen) {
  for (const auto& t : graph.tensors())
    trainable_.push_back(t.is_parameter() && t.trainable() && is_real(t.dtype()) &&
                         !t.is_encoded() && !adapters_.any());
  for_each_word(
      frozen,
      [&](std::string_view pattern) {
        if (pattern.empty()) return;
        bool found = false;
        for (const auto& t : graph.tensors()) {
          const bool inside =
              t.name().starts_with(pattern) && t.name().substr(pattern.size()).starts_with('.');
          if (!t.is_parameter() || (!inside && !matches(pattern, t.name()))) continue;
          found = true;
          trainable_[t.index()] = trainable_[t.canonical().index()] = false;
        }
        if (!found)
          throw tmeter::Error(TMETER_BAD_USAGE,
                              "training.frozen: '" + std::string(pattern) +
                                  "' matches no parameter; --plugins=params -v lists their names");
      },
      ',');
}

bool Gradients::of(const Value& value) const {
  if (const auto tensor = value.tensor())
    if (trainable_[tensor.canonical().index()]) return true;
  return made_.contains(value.handle()) || (!written_.empty() && written_.contains(root_of(value)));
}

const tmeter_value* Gradients::root_of(const Value& value) const {
  const auto found = roots_.find(value.handle());
  return found == roots_.end() ? value.handle() : found->second;
}

bool Gradients::of_any(const Value& value) const {
  if (value.is_tensor()) return of(value);
  for (size_t i = 0; i < value.size(); ++i)
    if (of_any(value[i])) return true;
  return false;
}

const Derivative* Gradients::derivative_of(const Node& node) {
  const auto* composite = find_composite(tmeter::base_name(node.op()));
  return composite ? &composite->rule : find_derivative(node.op(), node.overload());
}

bool Gradients::flows_into(const Node& node) const {
  if (stops_gradient(node.op())) return false;
  if (adapters_.of(node)) return true;
  const auto* row = derivative_of(node);
  bool any = false;
  for (size_t i = 0; i < node.arg_count() && !any; ++i)
    any = is_differentiable(row, node.arg_name(i)) && of_any(node.arg(i));
  return any;
}

void Gradients::call_rule(const Node& node, const tmeter::Call& call) {
  constexpr size_t kBits = 64;
  uint64_t arguments = 0;
  for (size_t i = 0; i < std::min(node.arg_count(), kBits); ++i)
    if (of_any(node.arg(i))) arguments |= uint64_t{1} << i;
  if (const auto given = tmeter::backward_of(call, node, arguments)) rules_[node.index()] = *given;
}

void Gradients::mark_results(const Node& node, bool needs) {
  bool real = false;
  for (size_t i = 0; i < node.result_count(); ++i) {
    mark(node.result(i), needs);
    real = real || !node.result(i).is_tensor() || is_real(node.result(i).dtype());
  }
  if (node.arg_count() > 0) {
    const auto target = node.arg(size_t{0});
    const bool in_place = tmeter::is_in_place(node.op());
    if (target.is_tensor() && (in_place || tmeter::op_class(node.op()) == OpClass::kView))
      follow(node, target);
    // The target of an in-place operator is its result from then on, and so is the base of a view.
    if (in_place && needs && target.is_tensor() && !target.tensor())
      written_.insert(root_of(target));
    if (in_place) mark(target, needs);
  }
  passes_.back() = needs && real;
}

void Gradients::follow(const Node& node, const Value& base) {
  const auto* root = root_of(base);
  for (size_t i = 0; i < node.result_count(); ++i) {
    const auto result = node.result(i);
    if (result.is_tensor() && result.handle() != root) roots_[result.handle()] = root;
    for (size_t k = 0; k < result.size(); ++k) roots_[result[k].handle()] = root;
  }
}

void Gradients::mark(const Value& value, bool needs) {
  for (size_t i = 0; i < value.size(); ++i) mark(value[i], needs);
  if (!value.is_tensor() || value.tensor()) return;
  if (needs && is_real(value.dtype()))
    made_.insert(value.handle());
  else
    made_.erase(value.handle());
}

}  // namespace training
