#include "size_arguments.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace tmeter::resize {
namespace {

enum class SizeKind { kReshape, kUnflatten, kExpand, kRepeat, kNew, kRange, kSpatial };

struct SizeRow {
  std::string_view op, argument;
  SizeKind kind;
};
constexpr std::array<SizeRow, 34> kSizeRows{{
    {"aten::view", "size", SizeKind::kReshape},
    {"aten::view_copy", "size", SizeKind::kReshape},
    {"aten::_unsafe_view", "size", SizeKind::kReshape},
    {"aten::reshape", "shape", SizeKind::kReshape},
    {"aten::unflatten", "sizes", SizeKind::kUnflatten},
    {"aten::expand", "size", SizeKind::kExpand},
    {"aten::expand_copy", "size", SizeKind::kExpand},
    {"aten::broadcast_to", "size", SizeKind::kExpand},
    {"aten::repeat", "repeats", SizeKind::kRepeat},
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
    {"aten::arange", "end", SizeKind::kRange},
    {"aten::slice", "end", SizeKind::kRange},
    {"aten::narrow", "length", SizeKind::kRange},
    {"aten::upsample_nearest1d", "output_size", SizeKind::kSpatial},
    {"aten::upsample_nearest2d", "output_size", SizeKind::kSpatial},
    {"aten::upsample_nearest3d", "output_size", SizeKind::kSpatial},
    {"aten::_upsample_nearest_exact1d", "output_size", SizeKind::kSpatial},
    {"aten::_upsample_nearest_exact2d", "output_size", SizeKind::kSpatial},
    {"aten::_upsample_nearest_exact3d", "output_size", SizeKind::kSpatial},
    {"aten::upsample_linear1d", "output_size", SizeKind::kSpatial},
    {"aten::upsample_bilinear2d", "output_size", SizeKind::kSpatial},
    {"aten::upsample_trilinear3d", "output_size", SizeKind::kSpatial},
    {"aten::upsample_bicubic2d", "output_size", SizeKind::kSpatial},
    {"aten::_upsample_bilinear2d_aa", "output_size", SizeKind::kSpatial},
    {"aten::_upsample_bicubic2d_aa", "output_size", SizeKind::kSpatial},
}};

const SizeRow* row_of(const Node& node) {
  const auto* row = std::find_if(kSizeRows.begin(), kSizeRows.end(),
                                 [&](const SizeRow& r) { return r.op == node.op(); });
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

/// A full shape in the form of the program: -1 stays -1. Empty if it contradicts a computed size.
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

/// unflatten(x, dim, sizes) is a reshape that has only the sizes of the split dim.
Sizes split_part(const Node& node, const Sizes& shape, const DimsChange& operand, size_t count) {
  const auto rank = static_cast<int64_t>(operand.now.size());
  const int64_t given = node.arg("dim").as_int();
  const auto dim = static_cast<size_t>(given < 0 ? given + rank : given);
  if (dim >= operand.now.size() || shape.size() != operand.now.size() + count - 1) return {};
  const auto at = [&](size_t i) { return shape.begin() + static_cast<ptrdiff_t>(i); };
  const auto old = [&](size_t i) { return operand.now.begin() + static_cast<ptrdiff_t>(i); };
  if (!std::equal(at(0), at(dim), old(0)) ||
      !std::equal(at(dim + count), shape.end(), old(dim + 1)))
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
  if (context.samples) {  // splits off the samples as a last resort
    auto more = reshaped(with_samples_apart(operand, *context.samples), recorded);
    for (auto& shape : more) {
      if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end())
        shapes.push_back(std::move(shape));
    }
  }
  const auto is_explained = [&](const Sizes& s) { return explained(recorded, s, context.certain); };
  const auto unknown = std::stable_partition(shapes.begin(), shapes.end(), is_explained);
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

/// The index of a size of 1 that most likely is the batch, if it has one sample: a 1 without
/// effect, as in expand(1, -1), was computed.
std::optional<size_t> likely_batch(SizeKind kind, const Node& node, const Sizes& written,
                                   const std::vector<bool>& literal, const Environment& now) {
  const auto literal_one = [&](size_t i) { return literal[i] && written[i] == 1; };
  if (kind == SizeKind::kNew && written.size() > 1 && literal_one(0)) return 0;
  if (kind == SizeKind::kRepeat && literal_one(0) &&
      std::all_of(written.begin(), written.end(), [](int64_t n) { return n == 1; }))
    return 0;
  const auto* self = kind == SizeKind::kExpand ? now.find(node.arg("self")) : nullptr;
  if (!self || !self->isTensor()) return std::nullopt;
  const auto dims = self->toTensor().sizes();
  const size_t added = written.size() - std::min(written.size(), dims.size());
  for (size_t i = added; i < written.size(); ++i) {
    if (literal_one(i) && dims[i - added] == 1) return i;
  }
  return std::nullopt;
}

void new_versions(SizeKind kind, const Node& node, const Sizes& written,
                  const std::vector<bool>& literal, const SizeContext& context,
                  std::vector<Sizes>& versions) {
  versions = substituted(written, literal, context.changes);
  if (!context.samples) return;
  const auto [recorded, requested] = *context.samples;
  if (const auto i =
          recorded == 1 ? likely_batch(kind, node, written, literal, context.now) : std::nullopt) {
    auto likely = written;
    likely[*i] = requested;
    const auto at = std::find(versions.begin(), versions.end(), likely);
    if (at != versions.end()) std::rotate(versions.begin(), at, at + 1);
  }
  // Batch and heads in one dim are rare, so they come last.
  const bool merged = kind == SizeKind::kExpand || kind == SizeKind::kRepeat;
  if (merged && literal[0] && written[0] > recorded && written[0] % recorded == 0) {
    versions.push_back(written);
    versions.back()[0] = written[0] / recorded * requested;
  }
}

/// interpolate(x, size=y.shape[-2:]): the new sizes of tensors with just that height and width.
void spatial_versions(const Sizes& written, const SizeContext& context, SizeArgument& argument) {
  const auto tail = [&](const Sizes& dims) {
    const size_t rank = std::min(dims.size(), written.size());
    return Sizes(dims.end() - static_cast<ptrdiff_t>(rank), dims.end());
  };
  auto& out = argument.versions;
  for (const auto& [recorded, now] : context.shapes) {
    if (tail(recorded) != written || tail(now) == written) continue;
    if (std::find(out.begin(), out.end(), tail(now)) == out.end()) out.push_back(tail(now));
  }
  argument.sure = out.size() == 1;
}

}  // namespace

Sizes written_sizes(const Node& node, const std::vector<std::string_view>& arguments,
                    const ReplayedSizes& base, const Environment& now) {
  const auto replaced = base.literals.find(node.index());
  Sizes out;
  for (const auto& argument : arguments) {
    const Sizes* earlier = nullptr;
    if (replaced != base.literals.end()) {
      const auto at = std::ranges::find(replaced->second, argument, &Literal::argument);
      if (at != replaced->second.end()) earlier = &at->sizes;
    }
    size_t i = 0;
    for (const auto& item : items_of(node.arg(argument))) {
      const bool is_constant = earlier && i < earlier->size() && !is_computed(item);
      out.push_back(is_constant ? (*earlier)[i] : number(item, now).toScalar().toLong());
      ++i;
    }
  }
  return out;
}

std::vector<Literal> literals_of(const Node& node, const SizeArgument& argument,
                                 const Sizes& version) {
  std::vector<Literal> out;
  auto from = version.begin();
  for (const auto& name : argument.names) {
    const auto to = from + static_cast<ptrdiff_t>(items_of(node.arg(name)).size());
    out.push_back({name, Sizes(from, to)});
    from = to;
  }
  return out;
}

namespace {

/// Whether each item of the arguments is a plain number; empty if none is.
std::vector<bool> literal_items(const Node& node, const std::vector<std::string_view>& arguments) {
  std::vector<bool> literal;
  for (const auto& argument : arguments) {
    for (const auto& item : items_of(node.arg(argument))) literal.push_back(!is_computed(item));
  }
  const bool any = std::find(literal.begin(), literal.end(), true) != literal.end();
  return any ? literal : std::vector<bool>();
}

bool holds_sizes(const Value& argument) {
  const auto items = items_of(argument);
  return !items.empty() && std::all_of(items.begin(), items.end(), is_size);
}

/// The schema of an in-house operator declares these numbers as sizes. Numbers equal to a changed
/// size are assumed to follow it; the unchanged version comes last.
std::optional<SizeArgument> declared_sizes(const Node& node,
                                           const std::vector<std::string_view>& by_schema,
                                           const SizeContext& context) {
  SizeArgument out;
  std::ranges::copy_if(by_schema, std::back_inserter(out.names),
                       [&](const auto& name) { return holds_sizes(node.arg(name)); });
  const auto literal = literal_items(node, out.names);
  if (literal.empty()) return std::nullopt;
  const auto written = written_sizes(node, out.names, context.base, context.now);
  out.versions = substituted(written, literal, context.certain);
  std::ranges::reverse(out.versions);
  return out;
}

}  // namespace

std::optional<SizeArgument> size_argument(const Node& node,
                                          const std::vector<std::string_view>& by_schema,
                                          const SizeContext& context) {
  if (!by_schema.empty()) return declared_sizes(node, by_schema, context);
  const auto* row = row_of(node);
  if (!row || !holds_sizes(node.arg(row->argument))) return std::nullopt;
  const auto literal = literal_items(node, {row->argument});
  if (literal.empty()) return std::nullopt;

  if (row->kind == SizeKind::kSpatial && is_of_torch_nn(node)) return std::nullopt;

  const auto written = written_sizes(node, {row->argument}, context.base, context.now);
  const bool reshape = row->kind == SizeKind::kReshape || row->kind == SizeKind::kUnflatten;
  const bool spatial = row->kind == SizeKind::kSpatial;
  SizeArgument out{{row->argument}, {}, reshape || spatial, false};
  if (spatial)
    spatial_versions(written, context, out);
  else if (reshape)
    reshape_versions(node, row->kind, written, literal, context, out);
  else
    new_versions(row->kind, node, written, literal, context, out.versions);
  if (out.versions.empty()) out.versions.push_back(written);
  return out;
}

}  // namespace tmeter::resize
