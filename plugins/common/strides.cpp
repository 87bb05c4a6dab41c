#include "plugins/common/strides.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <tmeter/cpp/op_class.hpp>

#include "plugins/common/uses.hpp"

namespace plugins {
namespace {

using tmeter::Node;
using tmeter::OpClass;
using tmeter::Value;

/// Operators with a new, contiguous result for any input (ATen: empty_like(…,
/// LEGACY_CONTIGUOUS_MEMORY_FORMAT), or a product).
constexpr std::array<std::string_view, 12> kMakeContiguous{
    "linear",  "matmul",   "mm",         "bmm",       "addmm", "baddbmm",
    "softmax", "_softmax", "layer_norm", "embedding", "roll",  "native_layer_norm"};
constexpr std::array<std::string_view, 8> kReshapes{
    "reshape", "flatten", "ravel", "reshape_as", "view", "_unsafe_view", "view_as", "unflatten"};
constexpr std::array<std::string_view, 8> kParts{
    "split",        "chunk",        "split_with_sizes", "narrow",
    "unsafe_split", "unsafe_chunk", "tensor_split",     "unsafe_split_with_sizes"};

Sizes sizes_of(const tmeter::Shape& shape) { return {shape.begin(), shape.end()}; }

bool are_valid_sizes(const Sizes& sizes) {
  constexpr int64_t kMaxElements = int64_t{1} << 60;
  int64_t n = 1;
  for (const auto s : sizes) {
    if (s < 0 || (s > 0 && n > kMaxElements / s)) return false;
    n *= std::max<int64_t>(s, 1);
  }
  return true;
}

/// The index of a dim, which may count from the end; empty if out of range.
std::optional<size_t> dim_of(const Value& v, size_t rank, int64_t otherwise) {
  const int64_t d = v.as_int(otherwise), r = static_cast<int64_t>(rank);
  const int64_t at = d < 0 ? d + r : d;
  return at >= 0 && at < r ? std::optional(static_cast<size_t>(at)) : std::nullopt;
}

std::optional<Sizes> permuted(const Node& node, const Strided& from) {
  const auto dims = node.arg("dims");
  if (dims.size() != from.strides.size()) return std::nullopt;
  Sizes out;
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto d = dim_of(dims[i], from.strides.size(), 0);
    if (!d) return std::nullopt;
    out.push_back(from.strides[*d]);
  }
  return out;
}

std::optional<Sizes> swapped(const Node& node, const Strided& from) {
  const bool named = !node.arg("dim0").is_none() || !node.arg("axis0").is_none();
  const auto rank = from.strides.size();
  const auto a = dim_of(node.arg(node.arg("dim0").is_none() ? "axis0" : "dim0"), rank, 0);
  const auto b = dim_of(node.arg(node.arg("dim1").is_none() ? "axis1" : "dim1"), rank, 1);
  if (!a || !b || (!named && rank != 2)) return std::nullopt;  // t()
  auto out = from.strides;
  std::swap(out[*a], out[*b]);
  return out;
}

std::optional<Sizes> without_dim(const Node& node, const Strided& from) {
  const auto d = dim_of(node.arg("dim"), from.strides.size(), 0);
  if (!d) return std::nullopt;
  auto out = from.strides;
  out.erase(out.begin() + static_cast<std::ptrdiff_t>(*d));
  return out;
}

/// Strides in a file are untrusted: an overflowing product is wrong, but not undefined.
int64_t times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

std::optional<Sizes> sliced(const Node& node, const Strided& from) {
  const auto d = dim_of(node.arg("dim"), from.strides.size(), 0);
  const auto step = node.arg("step").as_int(1);
  if (!d || step < 1 || step > (int64_t{1} << 32)) return std::nullopt;
  auto out = from.strides;
  out[*d] = times(out[*d], step);
  return out;
}

std::optional<Sizes> with_dim(const Node& node, const Strided& from) {
  const auto d = dim_of(node.arg("dim"), from.strides.size() + 1, 0);
  if (!d) return std::nullopt;
  auto out = from.strides;
  const bool last = *d == out.size();
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(*d),
             last ? 1 : times(from.sizes[*d], out[*d]));
  return out;
}

/// A dim of size 1 has any stride: other dims keep theirs, in order.
std::optional<Sizes> squeezed(const Strided& from, const Sizes& to) {
  Sizes out;
  size_t i = 0;
  for (const auto size : to) {
    while (i < from.sizes.size() && from.sizes[i] == 1 && size != 1) ++i;
    if (i == from.sizes.size() || from.sizes[i] != size) return std::nullopt;
    out.push_back(from.strides[i++]);
  }
  return out;
}

std::optional<Sizes> expanded(const Strided& from, const Sizes& to) {
  if (to.size() < from.sizes.size()) return std::nullopt;
  Sizes out(to.size(), 0);
  const size_t more = to.size() - from.sizes.size();
  for (size_t i = more; i < to.size(); ++i)
    out[i] = from.sizes[i - more] == to[i] ? from.strides[i - more] : 0;
  return out;
}

/// Strides without gaps in the same order of dims (TensorIterator, at::infer_dense_strides); empty
/// where two dims have equal strides, such as expanded ones.
std::optional<Strided> dense(const Strided& s) {
  std::vector<size_t> order(s.sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order, [&](size_t i) { return s.sizes[i] == 1; });
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return s.strides[a] < s.strides[b]; });
  Strided out = s;  // a dim of size 1 keeps its stride
  int64_t stride = 1, last = 0;
  for (const auto i : order) {
    if (s.strides[i] <= last) return std::nullopt;
    last = s.strides[i];
    out.strides[i] = stride;
    stride *= std::max<int64_t>(s.sizes[i], 1);
  }
  return out;
}

Value first_input(const Node& node) {
  for (size_t i = 0; i < node.arg_count(); ++i)
    if (node.arg(i).is_tensor()) return node.arg(i);
  return Value();
}

}  // namespace

bool is_channels_last(const Value& format) {
  return format.text().find("hannels") != std::string_view::npos || format.as_int() >= 2;
}

Strided contiguous(Sizes sizes) {
  Strided out{std::move(sizes), {}};
  out.strides.resize(out.sizes.size());
  int64_t stride = 1;
  for (size_t i = out.sizes.size(); i-- > 0;) {
    out.strides[i] = stride;
    stride *= std::max<int64_t>(out.sizes[i], 1);
  }
  return out;
}

Strided channels_last(Sizes sizes) {
  Strided out{std::move(sizes), {}};
  out.strides.assign(out.sizes.size(), 1);
  int64_t stride = out.sizes[1];
  for (size_t i = out.sizes.size(); i-- > 2; stride *= std::max<int64_t>(out.sizes[i], 1))
    out.strides[i] = stride;
  out.strides[0] = stride;
  return out;
}

bool is_channels_last(const Strided& s) {
  if (s.sizes.size() < 4 || is_contiguous(s)) return false;
  const auto expected = channels_last(s.sizes).strides;
  for (size_t i = 0; i < expected.size(); ++i)
    if (s.sizes[i] != 1 && s.strides[i] != expected[i]) return false;
  return true;
}

bool is_contiguous(const Strided& s) {
  if (std::find(s.sizes.begin(), s.sizes.end(), 0) != s.sizes.end()) return true;
  int64_t expected = 1;
  for (size_t i = s.sizes.size(); i-- > 0;) {
    if (s.sizes[i] == 1) continue;
    if (s.strides[i] != expected) return false;
    expected *= s.sizes[i];
  }
  return true;
}

std::optional<int64_t> product_of(std::span<const int64_t> sizes) {
  if (std::ranges::find(sizes, 0) != sizes.end()) return 0;
  int64_t product = 1;
  for (const auto n : sizes)
    if (__builtin_mul_overflow(product, n, &product)) return std::nullopt;
  return product;
}

std::optional<Sizes> view_strides(const Strided& s, const Sizes& sizes) {
  const auto all = product_of(sizes);
  if (!all || product_of(s.sizes) != all) return std::nullopt;
  if (*all == 0 || s.sizes.empty()) return contiguous(sizes).strides;
  Sizes out(sizes.size(), 1);
  size_t view = sizes.size();
  int64_t base = s.strides.back(), run = 1, taken = 1;  // stride of a run of contiguous dims
  for (size_t i = s.sizes.size(); i-- > 0;) {
    run *= s.sizes[i];
    const bool ends = i == 0 || (s.sizes[i - 1] != 1 && s.strides[i - 1] != times(run, base));
    if (!ends) continue;
    while (view > 0 && (taken < run || sizes[view - 1] == 1)) {
      out[--view] = times(taken, base);
      taken *= sizes[view];
    }
    if (taken != run) return std::nullopt;
    if (i > 0) base = s.strides[i - 1], run = 1, taken = 1;
  }
  return view == 0 ? std::optional(out) : std::nullopt;
}

Layouts::Layouts(const tmeter::Graph& graph) {
  for (const auto& input : graph.inputs())
    for_each_tensor(input, [&](const Value& v) {
      if (are_valid_sizes(sizes_of(v.shape()))) set(v, contiguous(sizes_of(v.shape())));
    });
  for (const auto& node : graph.nodes()) step(node);
}

const Strided* Layouts::of(const Value& value) const {
  const auto at = strided_.find(value.handle());
  return at == strided_.end() ? nullptr : &at->second;
}

void Layouts::set(const Value& value, MaybeStrided strided) {
  if (strided) strided_.insert_or_assign(value.handle(), std::move(*strided));
}

void Layouts::step(const Node& node) {
  for_each_input(node, [&](const Value& v) {
    const auto t = v.tensor();
    if (!t || of(v)) return;
    Strided s{sizes_of(t.shape()), sizes_of(t.strides())};
    if (s.sizes.size() == s.strides.size() && are_valid_sizes(s.sizes)) set(v, std::move(s));
  });
  for (size_t i = 0; i < node.result_count(); ++i)
    for_each_tensor(node.result(i), [&](const Value& v) {
      if (are_valid_sizes(sizes_of(v.shape()))) set(v, result_of(node, v));
    });
}

Layouts::MaybeStrided Layouts::result_of(const Node& node, const Value& result) {
  const auto name = tmeter::base_name(node.op());
  const auto kind = tmeter::op_class(node.op());
  if (kind == OpClass::kView || plugins::is_identity(node)) {
    const auto* from = of(first_input(node));
    return from ? view_of(node, *from, result) : std::nullopt;
  }
  if (kind == OpClass::kElementwise || kind == OpClass::kActivation)
    return elementwise(node, result);
  if (name.starts_with("conv") && name.size() == 6) {  // conv2d, conv3d: as their input
    const auto* from = of(first_input(node));
    if (from && is_channels_last(*from) && result.shape().rank() >= 4)
      return channels_last(sizes_of(result.shape()));
  }
  if (kind == OpClass::kAttention || kind == OpClass::kOther) return std::nullopt;
  if ((name == "contiguous" && !is_channels_last(node.arg("memory_format"))) ||
      is_one_of(name, kMakeContiguous) || all_inputs_are_contiguous(node))
    return contiguous(sizes_of(result.shape()));
  return std::nullopt;
}

Layouts::MaybeStrided Layouts::view_of(const Node& node, const Strided& from, const Value& result) {
  const auto name = tmeter::base_name(node.op());
  auto sizes = sizes_of(result.shape());
  std::optional<Sizes> strides;
  if (is_one_of(name, kReshapes)) return reshaped(node, from, result);
  if (name == "permute")
    strides = permuted(node, from);
  else if (name == "transpose" || name == "t" || name == "swapaxes" || name == "swapdims")
    strides = swapped(node, from);
  else if (name == "select" || name == "unbind")
    strides = without_dim(node, from);
  else if (name == "slice")
    strides = sliced(node, from);
  else if (name == "unsqueeze")
    strides = with_dim(node, from);
  else if (name == "squeeze")
    strides = squeezed(from, sizes);
  else if (name == "expand" || name == "expand_as" || name == "broadcast_to")
    strides = expanded(from, sizes);
  else if (is_one_of(name, kParts) || plugins::is_identity(node))
    strides = from.strides;
  if (!strides || strides->size() != sizes.size()) return std::nullopt;
  return Strided{std::move(sizes), std::move(*strides)};
}

/// `view` never copies: it refuses shapes that would need a copy.
Layouts::MaybeStrided Layouts::reshaped(const Node& node, const Strided& from,
                                        const Value& result) {
  auto sizes = sizes_of(result.shape());
  if (auto strides = view_strides(from, sizes))
    return Strided{std::move(sizes), std::move(*strides)};
  const auto name = tmeter::base_name(node.op());
  if (name == "view" || name == "_unsafe_view" || name == "view_as" || name == "unflatten")
    return std::nullopt;  // the layout assumed above is wrong
  copying_.push_back(node);
  return contiguous(std::move(sizes));
}

/// TensorIterator (reorder_dimensions) keeps the order of its first operand, unless that is
/// broadcast; else that of all where it is the same.
Layouts::MaybeStrided Layouts::elementwise(const Node& node, const Value& result) const {
  const auto sizes = sizes_of(result.shape());
  const auto first = first_input(node);
  if (const auto* s = of(first); s && sizes_of(first.shape()) == sizes)
    if (auto same = dense(*s)) return same;
  const Strided* common = nullptr;
  bool agree = true;
  for_each_input(node, [&](const Value& v) {
    if (sizes_of(v.shape()) != sizes) return;
    const auto* s = of(v);
    agree = agree && s && (!common || common->strides == s->strides);
    common = s ? s : common;
  });
  return agree && common ? dense(*common) : std::nullopt;
}

bool Layouts::all_inputs_are_contiguous(const Node& node) const {
  bool all = true;
  for_each_input(node, [&](const Value& v) {
    const auto* s = of(v);
    all = all && s && is_contiguous(*s);
  });
  return all;
}

}  // namespace plugins
