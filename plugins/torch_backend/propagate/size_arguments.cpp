#include "propagate/size_arguments.hpp"

#include <algorithm>
#include <array>

namespace tmeter::torch_backend {
namespace {

enum class SizeKind { kReshape, kUnflatten, kNew };

struct SizeRow {
  std::string_view op, argument;
  SizeKind kind;
};
constexpr std::array<SizeRow, 22> kSizeRows{{
    {"aten::view", "size", SizeKind::kReshape},
    {"aten::view_copy", "size", SizeKind::kReshape},
    {"aten::_unsafe_view", "size", SizeKind::kReshape},
    {"aten::reshape", "shape", SizeKind::kReshape},
    {"aten::unflatten", "sizes", SizeKind::kUnflatten},
    {"aten::expand", "size", SizeKind::kNew},
    {"aten::expand_copy", "size", SizeKind::kNew},
    {"aten::broadcast_to", "size", SizeKind::kNew},
    {"aten::repeat", "repeats", SizeKind::kNew},
    {"aten::zeros", "size", SizeKind::kNew},
    {"aten::ones", "size", SizeKind::kNew},
    {"aten::full", "size", SizeKind::kNew},
    {"aten::empty", "size", SizeKind::kNew},
    {"aten::rand", "size", SizeKind::kNew},
    {"aten::randn", "size", SizeKind::kNew},
    {"aten::new_zeros", "size", SizeKind::kNew},
    {"aten::new_ones", "size", SizeKind::kNew},
    {"aten::new_full", "size", SizeKind::kNew},
    {"aten::new_empty", "size", SizeKind::kNew},
    {"aten::arange", "end", SizeKind::kNew},
    {"aten::slice", "end", SizeKind::kNew},
    {"aten::narrow", "length", SizeKind::kNew},
}};

const SizeRow* row_of(const Node& node) {
  const auto* row =
      std::find_if(kSizeRows.begin(), kSizeRows.end(), [&](const SizeRow& r) { return r.op == node.op(); });
  return row == kSizeRows.end() ? nullptr : row;
}

bool is_size(const Value& v) { return v.kind() == TMETER_VALUE_INT; }
bool is_computed(const Value& v) { return v.producer().handle() != nullptr; }

std::vector<Value> items_of(const Value& v) {
  if (!v.is_list()) return {v};
  std::vector<Value> items;
  for (size_t i = 0; i < v.size(); ++i) items.push_back(v[i]);
  return items;
}

/// A full shape as it would be written: -1 stays -1. Empty when a computed size says otherwise.
Sizes as_written(const Sizes& shape, const Sizes& written, const std::vector<bool>& literal) {
  if (shape.size() != written.size()) return {};
  Sizes out = shape;
  for (size_t i = 0; i < out.size(); ++i) {
    if (written[i] == -1)
      out[i] = -1;
    else if (!literal[i] && written[i] != shape[i])
      return {};
  }
  return out;
}

/// unflatten(x, dim, sizes) is a reshape of which only the split dim is written.
Sizes split_part(const Node& node, const Sizes& shape, const DimsChange& operand, size_t count) {
  const auto rank = static_cast<int64_t>(operand.now.size());
  const int64_t given = node.arg("dim").as_int();
  const auto dim = static_cast<size_t>(given < 0 ? given + rank : given);
  if (dim >= operand.now.size() || shape.size() != operand.now.size() + count - 1) return {};
  const auto at = [&](size_t i) { return shape.begin() + static_cast<ptrdiff_t>(i); };
  const auto old = [&](size_t i) { return operand.now.begin() + static_cast<ptrdiff_t>(i); };
  if (!std::equal(at(0), at(dim), old(0)) || !std::equal(at(dim + count), shape.end(), old(dim + 1)))
    return {};
  return {at(dim), at(dim + count)};
}

/// Versions made of known changes come first.
void reshape_versions(const Node& node, SizeKind kind, const Sizes& written,
                      const std::vector<bool>& literal, const SizeContext& context,
                      SizeArgument& argument) {
  const auto self = node.arg("self");
  const auto* now = context.now.find(self);
  const auto result = node.result(0);
  if (!now || !now->isTensor() || !result.is_tensor()) return;
  const DimsChange operand{dims_in(context.base, self), now->toTensor().sizes().vec()};
  if (!operand.any()) return;
  const auto recorded = dims_in(context.base, result);
  auto shapes = reshaped(operand, recorded);
  const auto known = [&](const Sizes& s) { return explained(recorded, s, context.known); };
  const auto unknown = std::stable_partition(shapes.begin(), shapes.end(), known);
  argument.sure = unknown - shapes.begin() == 1;
  auto& out = argument.versions;
  for (const auto& shape : shapes) {
    const auto part =
        kind == SizeKind::kReshape ? shape : split_part(node, shape, operand, written.size());
    auto version = as_written(part, written, literal);
    if (!version.empty() && std::find(out.begin(), out.end(), version) == out.end())
      out.push_back(std::move(version));
  }
}

}  // namespace

std::string_view size_argument_name(const Node& node) {
  const auto* row = row_of(node);
  return row ? row->argument : std::string_view();
}

Sizes written_sizes(const Node& node, std::string_view argument, const Known& base,
                    const Environment& now) {
  const auto replaced = base.literals.find(node.index());
  Sizes out;
  for (const auto& item : items_of(node.arg(argument))) {
    const bool earlier = replaced != base.literals.end() && !is_computed(item);
    out.push_back(earlier ? replaced->second[out.size()] : number(item, now).toScalar().toLong());
  }
  return out;
}

std::optional<SizeArgument> size_argument(const Node& node, const SizeContext& context) {
  const auto* row = row_of(node);
  if (!row) return std::nullopt;
  const auto items = items_of(node.arg(row->argument));
  if (items.empty() || !std::all_of(items.begin(), items.end(), is_size)) return std::nullopt;
  std::vector<bool> literal;
  for (const auto& item : items) literal.push_back(!is_computed(item));
  if (std::find(literal.begin(), literal.end(), true) == literal.end()) return std::nullopt;

  const auto written = written_sizes(node, row->argument, context.base, context.now);
  SizeArgument out{row->argument, {}, row->kind != SizeKind::kNew, false};
  if (out.is_reshape)
    reshape_versions(node, row->kind, written, literal, context, out);
  else
    out.versions = substituted(written, literal, context.changes);
  if (out.versions.empty()) out.versions.push_back(written);
  return out;
}

}  // namespace tmeter::torch_backend
