#include "views.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tmeter/cpp/op_class.hpp>

namespace training {
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

bool drops_out(const Node& node, const Settings& settings) {
  return node.arg("p").as_float() > 0 && (settings.train || node.arg("train").as_bool());
}

Sharing sharing_of(const Node& node, const Value& base, DimSpan strides, const Settings& settings) {
  const auto name = tmeter::base_name(node.op());
  const auto result = node.result(0);
  if (name.ends_with("dropout"))
    return drops_out(node, settings) ? Sharing::kFresh : Sharing::kView;
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

}  // namespace training
