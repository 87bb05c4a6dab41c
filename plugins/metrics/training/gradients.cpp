#include "gradients.hpp"

#include <algorithm>
#include <tmeter/cpp/op_class.hpp>

#include "composites.hpp"

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

/// Results are new numbers, or the old ones cut off from where they came from.
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

Gradients::Gradients(const tmeter::Graph& graph, std::string_view frozen) {
  choose_parameters(graph, frozen);
  passes_.reserve(graph.nodes().size());
  for (const auto& node : graph.nodes()) {
    const bool needs = flows_into(node);
    passes_.push_back(needs);
    mark_results(node, needs);
  }
}

void Gradients::choose_parameters(const tmeter::Graph& graph, std::string_view frozen) {
  for (const auto& t : graph.tensors())
    trainable_.push_back(t.is_parameter() && t.trainable() && is_real(t.dtype()));
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
  return made_.contains(value.handle());
}

bool Gradients::of_any(const Value& value) const {
  if (value.is_tensor()) return of(value);
  for (size_t i = 0; i < value.size(); ++i)
    if (of_any(value[i])) return true;
  return false;
}

bool Gradients::flows_into(const Node& node) const {
  const auto op = node.op();
  if (stops_gradient(op)) return false;
  const auto* composite = find_composite(tmeter::base_name(op));
  const auto* row = composite ? &composite->rule : find_derivative(op, node.overload());
  const auto differentiable = [&](std::string_view name) {
    return !row || has_word(row->inputs, name) || name.empty();
  };
  bool any = false;
  for (size_t i = 0; i < node.arg_count() && !any; ++i)
    any = differentiable(node.arg_name(i)) && of_any(node.arg(i));
  return any;
}

void Gradients::mark_results(const Node& node, bool needs) {
  bool real = false;
  for (size_t i = 0; i < node.result_count(); ++i) {
    mark(node.result(i), needs);
    real = real || !node.result(i).is_tensor() || is_real(node.result(i).dtype());
  }
  // What an in-place operator writes into is its result from then on.
  if (tmeter::is_in_place(node.op()) && node.arg_count() > 0) mark(node.arg(size_t{0}), needs);
  passes_.back() = needs && real;
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
