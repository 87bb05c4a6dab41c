#include "layout.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <tmeter/cpp/op_class.hpp>
#include <vector>

namespace training {
namespace {

/// Dense strides, the dims from `order.front()`, the fastest, on.
Dims dense_strides(DimSpan shape, std::span<const size_t> order) {
  Dims strides(shape.size());
  int64_t next = 1;
  for (const size_t d : order) {
    strides[d] = next;
    // Saturates: strides are compared, and a shape beyond 2^63 elements is refused where its bytes
    // are counted.
    if (__builtin_mul_overflow(next, std::max<int64_t>(shape[d], 1), &next)) next = INT64_MAX;
  }
  return strides;
}

bool same_strides(DimSpan shape, DimSpan a, DimSpan b) {
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1 && a[d] != b[d]) return false;
  return true;
}

std::vector<size_t> row_major_order(size_t rank) {
  std::vector<size_t> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  return order;
}

}  // namespace

Dims contiguous_strides(DimSpan shape) {
  return dense_strides(shape, row_major_order(shape.size()));
}

Dims channels_last_strides(DimSpan shape) {
  auto order = row_major_order(shape.size());
  if (order.size() < 3) return dense_strides(shape, order);
  std::rotate(order.begin(), order.end() - 2, order.end() - 1);  // channels first
  return dense_strides(shape, order);
}

bool is_contiguous(DimSpan shape, DimSpan strides) {
  return same_strides(shape, strides, contiguous_strides(shape));
}

bool is_channels_last(DimSpan shape, DimSpan strides) {
  return (shape.size() == 4 || shape.size() == 5) &&
         same_strides(shape, strides, channels_last_strides(shape));
}

bool is_dense(DimSpan shape, DimSpan strides) {
  return same_strides(shape, strides, strides_like(shape, strides));
}

std::optional<Dims> view_strides(DimSpan from, DimSpan strides, DimSpan to) {
  if (std::find(from.begin(), from.end(), 0) != from.end() || from.empty())
    return contiguous_strides(to);
  Dims out(to.size());
  auto view_dim = static_cast<int64_t>(to.size()) - 1;
  int64_t base = strides.back(), elements = 1,
          in_view = 1;  // elements of the current chunk of contiguous dims
  for (size_t i = from.size(); i-- > 0;) {
    elements *= from[i];
    const bool chunk_ends = i == 0 || (from[i - 1] != 1 && strides[i - 1] != elements * base);
    if (!chunk_ends) continue;
    while (view_dim >= 0 && (in_view < elements || to[static_cast<size_t>(view_dim)] == 1)) {
      out[static_cast<size_t>(view_dim)] = in_view * base;
      in_view *= to[static_cast<size_t>(view_dim)];
      --view_dim;
    }
    if (in_view != elements) return std::nullopt;
    if (i > 0) base = strides[i - 1], elements = in_view = 1;
  }
  return view_dim == -1 ? std::optional(out) : std::nullopt;
}

Dims strides_like(DimSpan shape, DimSpan like) {
  auto order = row_major_order(shape.size());
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    // Dims of size 1, or repeated by expand, keep their place.
    return shape[a] > 1 && shape[b] > 1 && like[a] > 0 && like[b] > 0 && like[a] < like[b];
  });
  return dense_strides(shape, order);
}

namespace {

using tmeter::Node;
using tmeter::OpClass;
using tmeter::Value;

bool among(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

size_t dim_of(const Value& value, size_t rank, int64_t fallback = 0) {
  const auto dim = value.as_int(fallback);
  return static_cast<size_t>(
      std::clamp<int64_t>(dim < 0 ? dim + static_cast<int64_t>(rank) : dim, 0,
                          std::max<int64_t>(0, static_cast<int64_t>(rank) - 1)));
}

Dims permuted(const Node& node, std::string_view name, DimSpan strides) {
  Dims out(strides.begin(), strides.end());
  const auto rank = out.size();
  if (name == "permute") {
    const auto dims = node.arg("dims");
    for (size_t i = 0; i < std::min(rank, dims.size()); ++i)
      out[i] = strides[dim_of(dims[i], rank)];
  } else if (rank >= 2 && among(name, {"transpose", "swapaxes", "swapdims"})) {
    const auto first = name == "swapaxes" ? node.arg("axis0") : node.arg("dim0");
    const auto second = name == "swapaxes" ? node.arg("axis1") : node.arg("dim1");
    std::swap(out[dim_of(first, rank)], out[dim_of(second, rank)]);
  } else if (name == "numpy_T") {
    std::reverse(out.begin(), out.end());
  } else if (rank >= 2) {  // t, mT, adjoint
    std::swap(out[rank - 1], out[rank - 2]);
  }
  return out;
}

Dims moved(const Node& node, DimSpan strides) {
  const auto rank = strides.size();
  const auto source = node.arg("source"), destination = node.arg("destination");
  const size_t n = source.is_list() ? source.size() : 1;
  std::vector<size_t> order(rank, rank);
  std::vector<bool> used(rank);
  for (size_t i = 0; i < n && rank > 0; ++i) {
    const auto from = dim_of(source.is_list() ? source[i] : source, rank);
    const auto to = dim_of(destination.is_list() ? destination[i] : destination, rank);
    order[to] = from;
    used[from] = true;
  }
  size_t next = 0;
  Dims out(rank);
  for (size_t i = 0; i < rank; ++i) {
    while (order[i] == rank && next < rank && used[next]) ++next;
    out[i] = strides[order[i] == rank ? std::min(next, rank - 1) : order[i]];
    if (order[i] == rank) ++next;
  }
  return out;
}

Dims expanded(DimSpan shape, DimSpan strides, DimSpan to) {
  Dims out(to.size(), 0);
  const size_t extra = to.size() - std::min(to.size(), shape.size());
  for (size_t i = extra; i < to.size(); ++i)
    out[i] = shape[i - extra] == to[i] ? strides[i - extra] : 0;
  return out;
}

bool reshapes(std::string_view name) {
  return among(name, {"reshape", "flatten", "ravel", "reshape_as", "contiguous", "unflatten"});
}

bool converts(std::string_view name) {
  return among(name, {"to", "type_as", "float", "half", "double", "bfloat16", "_to_copy", "cpu",
                      "cuda", "_autocast_to_full_precision", "_autocast_to_reduced_precision"});
}

}  // namespace

bool applies_dropout(const Node& node, const Settings& settings) {
  return node.arg("p").as_float() > 0 && (settings.train || node.arg("train").as_bool());
}

Sharing sharing_of(const Node& node, const Value& base, DimSpan strides, const Settings& settings) {
  const auto name = tmeter::base_name(node.op());
  const auto result = node.result(0);
  if (name.ends_with("dropout"))
    return applies_dropout(node, settings) ? Sharing::kFresh : Sharing::kView;
  if (name == "contiguous")
    return is_contiguous(dims_of(base.shape()), strides) ? Sharing::kView : Sharing::kFresh;
  if (converts(name)) {
    const bool same =
        base.dtype() == result.dtype() && !node.arg("copy").as_bool() && name != "_to_copy";
    return same ? Sharing::kView : Sharing::kFresh;
  }
  if (reshapes(name))
    return view_strides(dims_of(base.shape()), strides, dims_of(result.shape())) ? Sharing::kView
                                                                                 : Sharing::kFresh;
  return tmeter::op_class(node.op()) == OpClass::kView ? Sharing::kView : Sharing::kFresh;
}

Dims strides_of_view(const Node& node, const Value& base, DimSpan strides, const Value& result) {
  const auto name = tmeter::base_name(node.op());
  const auto from = dims_of(base.shape()), to = dims_of(result.shape());
  Dims same(strides.begin(), strides.end());
  if (among(name, {"permute", "transpose", "swapaxes", "swapdims", "t", "numpy_T", "mT", "mH",
                   "adjoint"}))
    return permuted(node, name, strides);
  if (among(name, {"movedim", "moveaxis"})) return moved(node, strides);
  if (among(name, {"expand", "expand_as", "broadcast_to"})) return expanded(from, strides, to);
  if (among(name, {"select", "unbind"}) && !same.empty()) {
    same.erase(same.begin() + static_cast<ptrdiff_t>(dim_of(node.arg("dim"), same.size())));
    return same.size() == to.size() ? same : contiguous_strides(to);
  }
  if (name == "slice" && !same.empty()) {
    auto& stride = same[dim_of(node.arg("dim"), same.size())];
    if (__builtin_mul_overflow(stride, std::max<int64_t>(1, node.arg("step").as_int(1)), &stride))
      stride = INT64_MAX;
    return same;
  }
  if (same.size() == to.size() &&
      (from.empty() || std::equal(from.begin(), from.end(), to.begin())))
    return same;
  if (among(name,
            {"split", "chunk", "split_with_sizes", "unsafe_split", "unsafe_chunk", "tensor_split",
             "narrow", "hsplit", "vsplit", "dsplit", "unsafe_split_with_sizes"}))
    return same.size() == to.size() ? same : contiguous_strides(to);
  const auto view = view_strides(from, strides, to);
  return view ? *view : contiguous_strides(to);
}

namespace {

/// "bhid, bhjd -> bhij" without spaces: the labels of both operands and of the result, which may be
/// left out.
struct Labels {
  std::string left, right, result;
};

std::optional<Labels> labels_of(std::string_view equation) {
  std::string text(equation);
  std::erase(text, ' ');
  const auto comma = text.find(','), arrow = text.find("->");
  if (comma == std::string::npos || text.find('.') != std::string::npos) return std::nullopt;
  Labels out{text.substr(0, comma),
             text.substr(comma + 1, arrow == std::string::npos ? arrow : arrow - comma - 1),
             {}};
  if (arrow != std::string::npos) {
    out.result = text.substr(arrow + 2);
    return out;
  }
  auto all = out.left + out.right;  // without an arrow: the labels that occur once, sorted
  std::sort(all.begin(), all.end());
  for (const char c : all)
    if (std::count(all.begin(), all.end(), c) == 1) out.result += c;
  return out;
}

bool has_doubles(std::string text) {
  std::sort(text.begin(), text.end());
  return std::adjacent_find(text.begin(), text.end()) != text.end();
}

/// Dims of one operand by label: first those of the result, then those that are summed over.
struct Aligned {
  Dims shape, strides;
};

Aligned aligned(const std::string& order, const std::string& labels, EinsumOperand operand) {
  Aligned out{Dims(order.size(), 1), Dims(order.size(), 0)};
  for (size_t i = 0; i < order.size(); ++i) {
    const auto at = labels.find(order[i]);
    if (at == std::string::npos) continue;
    out.shape[i] = operand.shape[at];
    out.strides[i] = operand.strides[at];
  }
  return out;
}

BatchedMatrix matrices(const Aligned& from, const std::vector<std::vector<size_t>>& groups) {
  BatchedMatrix out;
  for (const auto& group : groups) {
    int64_t size = 1;
    for (const size_t d : group) {
      out.shape.push_back(from.shape[d]);
      out.strides.push_back(from.strides[d]);
      size *= from.shape[d];
    }
    out.to.push_back(size);
  }
  return out;
}

}  // namespace

// Linear.cpp, sumproduct_pair: `lro` are dims of both and the result, `lo` and `ro` of one.
std::optional<std::pair<BatchedMatrix, BatchedMatrix>> einsum_matrices(std::string_view equation,
                                                                       EinsumOperand left,
                                                                       EinsumOperand right) {
  const auto labels = labels_of(equation);
  if (!labels || has_doubles(labels->left) || has_doubles(labels->right) ||
      labels->left.size() != left.shape.size() || labels->right.size() != right.shape.size())
    return std::nullopt;
  auto order = labels->result;
  for (const char c : labels->left + labels->right)
    if (order.find(c) == std::string::npos) order += c;
  const auto l = aligned(order, labels->left, left), r = aligned(order, labels->right, right);
  std::vector<size_t> lro, lo, ro, summed;
  for (size_t d = 0; d < order.size(); ++d) {
    const bool in_left = l.shape[d] != 1, in_right = r.shape[d] != 1;
    if (d >= labels->result.size()) {
      if (in_left != in_right) return std::nullopt;  // summed before
      summed.push_back(d);
    } else {
      (in_left && in_right ? lro : in_left ? lo : ro).push_back(d);
    }
  }
  const bool sums =
      std::any_of(summed.begin(), summed.end(), [&](size_t d) { return l.shape[d] != 1; });
  if (!sums) return std::nullopt;
  return std::pair(matrices(l, {lro, lo, summed}), matrices(r, {lro, summed, ro}));
}

}  // namespace training
