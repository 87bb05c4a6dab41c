#include "unresolved_literals.hpp"

#include <algorithm>
#include <array>

#include "rules.hpp"

namespace tmeter::resize {
namespace {

struct SizeLiteral {
  std::string_view op;  // beginning of the name
  std::string_view argument;
};
constexpr std::array<SizeLiteral, 25> kSizeLiterals{{
    {"aten::upsample_", "output_size"},
    {"aten::_upsample_", "output_size"},
    {"aten::adaptive_", "output_size"},
    {"aten::avg_pool", "kernel_size"},
    {"aten::max_pool", "kernel_size"},
    {"aten::col2im", "output_size"},
    {"aten::slice", "start"},
    {"aten::slice", "end"},
    {"aten::narrow", "start"},
    {"aten::narrow", "length"},
    {"aten::split", "split_size"},
    {"aten::split", "split_sizes"},
    {"aten::roll", "shifts"},
    {"aten::arange", "end"},
    {"aten::linspace", "steps"},
    {"aten::expand", "size"},
    {"aten::broadcast_to", "size"},
    {"aten::repeat", "repeats"},
    {"aten::zeros", "size"},
    {"aten::ones", "size"},
    {"aten::full", "size"},
    {"aten::empty", "size"},
    {"aten::rand", "size"},
    {"aten::new_", "size"},
    {"aten::unfold", "size"},
}};

void add_changes(const Value& argument, const Known& known, SizeChanges& out) {
  for_each_tensor_value(argument, [&](const Value& v) {
    const auto before = sizes_of(v.shape()), after = dims_in(known, v);
    for (size_t d = 0; d < before.size() && d < after.size(); ++d) {
      if (before[d] != after[d]) out.emplace(before[d], after[d]);
    }
  });
}

SizeChanges changes_at(const Node& node, const Known& known) {
  SizeChanges out;
  for (size_t i = 0; i < node.arg_count(); ++i) add_changes(node.arg(i), known, out);
  return out;
}

SizeChanges changes_of_inputs(const Graph& graph, const Known& known) {
  SizeChanges out;
  for (const auto& input : graph.inputs()) add_changes(input, known, out);
  return out;
}

/// The number of literals equal to a changed size. 1 does not count, because it is too common.
size_t equal_to_changed(const Value& v, const SizeChanges& changes) {
  size_t count = 0;
  for (size_t i = 0; i < v.size(); ++i) count += equal_to_changed(v[i], changes);
  const bool plain = v.kind() == TMETER_VALUE_INT && !v.producer() && v.as_int() > 1;
  const bool changed =
      plain && std::any_of(changes.begin(), changes.end(),
                           [&](const SizeChange& c) { return c.first == v.as_int(); });
  return count + (changed ? 1 : 0);
}

/// Both ends of a slice that is as long as the input, or a multiple of it, from a table that does
/// not change: table[m - n : m + n], as DeBERTa takes its relative positions.
size_t slice_left(const Node& node, const Known& known, const SizeChanges& inputs) {
  const auto start = node.arg("start"), end = node.arg("end");
  const auto is_plain = [](const Value& v) {
    return v.kind() == TMETER_VALUE_INT && !v.producer() && v.as_int() > 0;
  };
  if (node.op() != "aten::slice" || !is_plain(start) || !is_plain(end)) return 0;
  const int64_t length = end.as_int() - start.as_int();
  const bool follows = std::any_of(inputs.begin(), inputs.end(), [&](const SizeChange& c) {
    return c.first > 1 && length > 0 && length % c.first == 0;
  });
  return follows && changes_at(node, known).empty() ? 2 : 0;
}

/// Pads of changed dims before other operators than convolution and pooling. They cannot be judged.
/// A pad of zeros counts too, because it was computed.
size_t pads_left(const Node& node, const Known& known) {
  const auto pads = node.arg("pad");
  const auto before = sizes_of(node.arg(size_t{0}).shape());
  const auto after = dims_in(known, node.arg(size_t{0}));
  if (before.size() != after.size() || pads.size() > 2 * before.size()) return 0;
  size_t count = 0, zeros = 0;
  for (size_t i = 0; i < pads.size(); ++i) {
    const size_t dim = before.size() - 1 - i / 2;
    if (before[dim] == after[dim] || pads[i].producer()) continue;
    ++(pads[i].as_int() == 0 ? zeros : count);
  }
  return count > 0 ? count : zeros;
}

/// Any number of an operator that LibTorch lacks may be a size.
size_t literals_of_rule(const Node& node, const Known& known) {
  const auto changes = changes_at(node, known);
  size_t count = 0;
  for (size_t i = 0; i < node.arg_count(); ++i) count += equal_to_changed(node.arg(i), changes);
  return count;
}

}  // namespace

std::map<std::string, size_t> unresolved_literals(const Graph& recorded, const Known& known,
                                                  const ConvPoolPadding& padding) {
  std::map<std::string, size_t> out;
  const auto inputs = changes_of_inputs(recorded, known);
  for (const auto& node : recorded.nodes()) {
    if (known.literals.contains(node.index()) || is_of_torch_nn(node)) continue;
    if (const auto count = is_of_libtorch(node) ? 0 : literals_of_rule(node, known))
      out[full_name(node)] += count;
    for (const auto& row : kSizeLiterals) {
      if (!node.op().starts_with(row.op)) continue;
      auto changes = changes_at(node, known);
      if (changes.empty()) changes = inputs;
      if (const auto count = equal_to_changed(node.arg(row.argument), changes))
        out[full_name(node)] += count;
    }
    if (const auto count = slice_left(node, known, inputs)) out[full_name(node)] += count;
    if (!is_padding(node) || padding.padded_at(node)) continue;
    if (const auto count = pads_left(node, known)) out[full_name(node)] += count;
  }
  return out;
}

}  // namespace tmeter::resize
