#include "plugins/common/uses.hpp"

#include <algorithm>
#include <array>
#include <tmeter/cpp/op_class.hpp>

namespace plugins {
namespace {

using tmeter::Node;
using tmeter::OpClass;
using tmeter::Value;

constexpr std::array<std::string_view, 8> kIdentities{
    "alias",      "detach",        "dropout",         "alpha_dropout",
    "lift_fresh", "requires_grad", "feature_dropout", "feature_alpha_dropout"};
constexpr std::array<std::string_view, 5> kConversions{"to", "type_as", "cpu", "cuda", "_to_copy"};
constexpr std::array<std::string_view, 11> kShapeChanges{
    "view",  "reshape",   "_unsafe_view", "flatten",    "unflatten",     "squeeze",
    "ravel", "unsqueeze", "view_as",      "reshape_as", "_reshape_alias"};

/// The maximum number of views in a row, more than any model has: bounds the work for hostile
/// files.
constexpr int kMaxViews = 64;

Value first_tensor(const Node& node) {
  for (size_t i = 0; i < node.arg_count(); ++i)
    if (node.arg(i).is_tensor()) return node.arg(i);
  return Value();
}

bool has_one_tensor(const Node& node) {
  return node.result_count() == 1 && node.result(0).is_tensor() && first_tensor(node).is_tensor();
}

/// Operators that do not read the elements, such as sizes and checks.
bool reads_sizes_only(const Node& node) {
  if (tmeter::op_class(node.op()) != OpClass::kControl) return false;
  const auto name = tmeter::base_name(node.op());
  return node.result_count() == 0 || name.starts_with("sym_") || name == "size" || name == "dim";
}

/// `x.reshape_as(other)` uses the sizes of `other` only.
bool is_pattern(const Node& node, size_t arg) {
  constexpr std::array<std::string_view, 4> kAs{"reshape_as", "view_as", "expand_as", "type_as"};
  return node.arg_name(arg) == "other" && is_one_of(tmeter::base_name(node.op()), kAs);
}

}  // namespace

double element_count(const tmeter::Shape& shape) {
  double n = 1;
  for (const auto size : shape) n *= static_cast<double>(std::max<int64_t>(size, 0));
  return n;
}
double bytes_of(const Value& value) {
  if (const auto stored = value.tensor()) return bytes_of(stored);
  return value.is_tensor()
             ? element_count(value.shape()) * static_cast<double>(value.dtype().bytes())
             : 0;
}
double bytes_of(const tmeter::Tensor& tensor) {
  return static_cast<double>(tensor.bytes().value());
}

bool is_identity(const Node& node) {
  if (!has_one_tensor(node)) return false;
  const auto name = tmeter::base_name(node.op());
  if (is_one_of(name, kIdentities)) return !node.arg("train").as_bool();
  return is_one_of(name, kConversions) && first_tensor(node).dtype() == node.result(0).dtype() &&
         !node.arg("copy").as_bool() && node.arg("memory_format").is_none();
}

bool is_skipped(const Node& node, SkippedOps skipped) {
  if (is_identity(node)) return true;
  if (skipped == SkippedOps::kIdentity || !has_one_tensor(node)) return false;
  if (tmeter::op_class(node.op()) != OpClass::kView) return false;
  const auto name = tmeter::base_name(node.op());
  if (name.ends_with("dropout")) return false;  // a dropout in training
  return skipped == SkippedOps::kView || is_one_of(name, kShapeChanges);
}

Value origin(Value value, SkippedOps skipped) {
  for (int steps = 0; steps < kMaxViews; ++steps) {
    const auto maker = value.producer();
    if (!maker || !is_skipped(maker, skipped)) break;
    value = first_tensor(maker);
  }
  return value;
}

DependsOnInputs::DependsOnInputs(const tmeter::Graph& graph) : depends_(graph.nodes().size()) {
  for (const auto& input : graph.inputs())
    for_each_tensor(input, [&](const Value& v) { inputs_.insert(v.handle()); });
  for (const auto& node : graph.nodes()) {
    bool depends = false;
    for_each_input(node, [&](const Value& v) { depends = depends || (*this)(v); });
    depends_[node.index()] = depends;
  }
}

bool DependsOnInputs::operator()(const Value& value) const {
  const auto maker = value.producer();
  return inputs_.count(value.handle()) > 0 || (maker && depends_[maker.index()]);
}

Uses::Uses(const tmeter::Graph& graph) {
  for (const auto& node : graph.nodes()) {
    if (reads_sizes_only(node)) continue;
    for (size_t i = 0; i < node.arg_count(); ++i)
      if (!is_pattern(node, i)) for_each_tensor(node.arg(i), [&](const Value& v) { add(v, node); });
  }
  for (const auto& output : graph.outputs())
    for_each_tensor(output, [&](const Value& v) { users_[v.handle()].returned = true; });
}

void Uses::add(const Value& v, const Node& node) {
  auto& nodes = users_[v.handle()].nodes;
  if (nodes.empty() || nodes.back().handle() != node.handle()) nodes.push_back(node);
  if (!v.tensor()) return;
  auto& of = of_tensor_[v.tensor().canonical().handle()];
  if (of.empty() || of.back() != node.index()) of.push_back(node.index());
}

const Uses::Users* Uses::users(const Value& value) const {
  const auto at = users_.find(value.handle());
  return at == users_.end() ? nullptr : &at->second;
}

Use Uses::sole_use(Value value, SkippedOps skipped) const {
  for (int steps = 0; steps < kMaxViews; ++steps) {
    const auto* found = users(value);
    if (!found || found->returned || found->nodes.size() != 1) break;
    const auto node = found->nodes.front();
    if (!is_skipped(node, skipped)) return {node, value};
    value = node.result(0);
  }
  return {Node(), Value()};
}

/// False when the model returns it.
bool Uses::collect(const Value& value, int steps, std::vector<Node>& into) const {
  const auto* found = users(value);
  if (!found) return true;
  if (found->returned || steps == kMaxViews) return false;
  for (const auto& node : found->nodes) {
    if (!is_identity(node))
      into.push_back(node);
    else if (!collect(node.result(0), steps + 1, into))
      return false;
  }
  return true;
}

std::vector<Node> Uses::all(const Value& value) const {
  std::vector<Node> out;
  if (!collect(value, 0, out)) out.clear();
  return out;
}

size_t Uses::of(const tmeter::Tensor& tensor) const {
  const auto at = of_tensor_.find(tensor.canonical().handle());
  return at == of_tensor_.end() ? 0 : at->second.size();
}

}  // namespace plugins
