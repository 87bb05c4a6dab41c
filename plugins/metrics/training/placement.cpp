#include "placement.hpp"

#include <algorithm>
#include <tmeter/cpp/op_class.hpp>

#include "backward_work.hpp"
#include "layout.hpp"

namespace training {
namespace {

using tmeter::Count;
using tmeter::Node;
using tmeter::OpClass;
using tmeter::Value;

Value first_tensor(const Node& node) {
  for (size_t i = 0; i < node.arg_count(); ++i) {
    const auto value = node.arg(i);
    if (value.is_tensor()) return value;
    if (value.is_list() && value.size() > 0 && value[0].is_tensor()) return value[0];
  }
  return Value();
}

/// One result for each element of an argument, in the order of its dims.
bool keeps_order(OpClass kind) {
  switch (kind) {
    case OpClass::kActivation:
    case OpClass::kElementwise:
    case OpClass::kCopy:
    case OpClass::kRandom:
    case OpClass::kNormalization:
    case OpClass::kView:  // dropout
    case OpClass::kCreation:
      return true;
    default:
      return false;
  }
}

bool keeps_channels_last(OpClass kind) {
  return kind == OpClass::kConvolution || kind == OpClass::kPooling ||
         kind == OpClass::kInterpolation;
}

/// Their kernels make contiguous results of any operands.
bool makes_contiguous(std::string_view base) {
  return base == "layer_norm" || base == "native_layer_norm" || base == "contiguous" ||
         base == "reshape" || base == "flatten" || base == "cat";
}

}  // namespace

Placement::Placement(const tmeter::Graph& graph, const Gradients& gradients,
                     const Settings& settings)
    : gradients_(gradients), settings_(settings), of_tensor_(graph.tensors().size(), kNone) {}

uint32_t Placement::add(Count bytes, uint32_t maker) {
  storages_.push_back({bytes, maker, false});
  return static_cast<uint32_t>(storages_.size() - 1);
}

const Place& Placement::of(const Value& value) {
  const auto found = places_.find(value.handle());
  if (found != places_.end()) return found->second;
  const auto tensor = value.tensor();
  if (!tensor) {  // an input of the model
    place(value, add(bytes_of(value, settings_), kNone),
          contiguous_strides(dims_of(value.shape())));
    return places_[value.handle()];
  }
  auto& storage = of_tensor_[tensor.canonical().index()];
  if (storage == kNone) {
    storage = add(tensor.numel() * element_bytes(tensor.dtype(), settings_), kNone);
    storages_[storage].persistent = tensor.is_parameter() || tensor.is_buffer();
  }
  const auto strides = dims_of(tensor.strides());
  const bool fits = strides.size() == static_cast<size_t>(value.shape().rank());
  place(value, storage,
        fits ? Dims(strides.begin(), strides.end()) : contiguous_strides(dims_of(value.shape())));
  return places_[value.handle()];
}

void Placement::place(const Value& value, uint32_t storage, Dims strides) {
  // The operator cannot give such a shape: the file is wrong, and nothing is read beyond the
  // strides.
  if (strides.size() != static_cast<size_t>(value.shape().rank()))
    strides = contiguous_strides(dims_of(value.shape()));
  places_[value.handle()] = {storage, std::move(strides)};
}

void Placement::step(const Node& node) {
  const auto base = first_tensor(node);
  const bool in_place = tmeter::is_in_place(node.op());
  bool view = in_place;
  if (!view && base.is_tensor()) {
    const auto strides = of(base).strides;
    view = sharing_of(node, base, strides, settings_) == Sharing::kView;
  }
  for (size_t i = 0; i < node.result_count(); ++i) {
    const auto result = node.result(i);
    const auto one = [&](const Value& v) {
      if (!v.is_tensor() || v.tensor()) return;
      if (in_place && base.is_tensor()) {
        const auto at = of(base);
        place(v, at.storage, at.strides);
      } else if (view && base.is_tensor()) {
        place_view(v, node, base);
      } else {
        place_fresh(v, node);
      }
    };
    one(result);
    for (size_t k = 0; k < result.size(); ++k) one(result[k]);
  }
}

void Placement::place_view(const Value& result, const Node& node, const Value& base) {
  const auto at = of(base);
  place(result, at.storage, strides_of_view(node, base, at.strides, result));
}

void Placement::place_fresh(const Value& value, const Node& node) {
  const auto storage = add(bytes_of(value, settings_), static_cast<uint32_t>(node.index()));
  place(value, storage, fresh_strides(value, node));
}

Dims Placement::fresh_strides(const Value& result, const Node& node) {
  const auto shape = dims_of(result.shape());
  const auto base = tmeter::base_name(node.op());
  const auto kind = tmeter::op_class(node.op());
  if (is_attention(base) && node.arg("query").shape().rank() == result.shape().rank() &&
      runs_fused(node, gradients_, settings_))  // alloc_with_matching_layout
    return strides_like(shape, of(node.arg("query")).strides);
  const auto from = first_tensor(node);
  if (keeps_channels_last(kind) || base == "cat") {
    if (from.is_tensor() && static_cast<size_t>(from.shape().rank()) == shape.size()) {
      const auto strides = of(from).strides;
      if (is_channels_last(dims_of(from.shape()), strides) &&
          !is_contiguous(dims_of(from.shape()), strides))
        return channels_last_strides(shape);
    }
    return contiguous_strides(shape);
  }
  if (!keeps_order(kind) || makes_contiguous(base)) return contiguous_strides(shape);
  for (size_t i = 0; i < node.arg_count(); ++i) {
    const auto value = node.arg(i);
    if (!value.is_tensor() || value.shape().rank() != result.shape().rank()) continue;
    const auto dims = dims_of(value.shape());
    if (!std::equal(dims.begin(), dims.end(), shape.begin())) continue;
    return strides_like(shape, of(value).strides);
  }
  return contiguous_strides(shape);
}

}  // namespace training
