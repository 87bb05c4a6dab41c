// Selection of elements: index, embedding, search, and operators whose result size depends on
// values.
//
// For the latter, the result has the largest possible size (every element counts). Unique values
// are assumed to be one, because they control loops more often than they take part in
// arithmetic. The report states both assumptions.
#include <algorithm>

#include "operators/evaluator.hpp"
#include "operators/meta_kernels/registry.hpp"

namespace tmeter::torch_backend {
namespace {

void index_select(KernelCall& call) {
  const auto x = call.tensor("self"), index = call.tensor("index");
  auto out = x.sizes().vec();
  if (!out.empty()) out[static_cast<size_t>(wrap(call.integer("dim"), x.dim()))] = index.numel();
  call.give(like(x, out));
}

void take(KernelCall& call) { call.give(like(call.tensor("self"), call.tensor("index").sizes())); }

// weight [V, D], indices [n], offsets [bags (+ 1)] → (output [bags, D], offset2bag, bag_size,
// max_indices) mode: 0 sum, 1 mean, 2 max. The last three are for the backward pass; sizes as on
// the CPU.
void embedding_bag(KernelCall& call) {
  const auto weight = call.tensor("weight"), indices = call.tensor("indices"),
             offsets = call.tensor("offsets");
  const int64_t bags = offsets.size(0) - (call.boolean("include_last_offset") ? 1 : 0);
  const int64_t mode = call.integer("mode");
  call.give(like(weight, {bags, weight.size(1)}));
  call.give(like(offsets, {mode == 0 ? 0 : indices.size(0)}));
  call.give(like(offsets, {bags}));
  call.give(mode == 2 ? like(offsets, {bags, weight.size(1)}) : like(offsets, {bags}));
}

void bucketize(KernelCall& call) {
  call.give(same(call.tensor("self"), call.boolean("out_int32") ? at::kInt : at::kLong));
}
void bucketize_scalar(KernelCall& call) {
  call.give(like(call.tensor("boundaries"), {}, call.boolean("out_int32") ? at::kInt : at::kLong));
}
void searchsorted_scalar(KernelCall& call) {
  call.give(
      like(call.tensor("sorted_sequence"), {}, call.boolean("out_int32") ? at::kInt : at::kLong));
}

void histc(KernelCall& call) { call.give(like(call.tensor("self"), {call.integer("bins")})); }

// (counts, edges)
void histogram(KernelCall& call) {
  const int64_t bins = call.integer("bins");
  call.give(like(call.tensor("self"), {bins}));
  call.give(like(call.tensor("self"), {bins + 1}));
}
void histogram_between(KernelCall& call) {
  const auto edges = call.tensor("bins");
  call.give(like(edges, {edges.numel() - 1}));
  call.give(like(edges, edges.sizes()));
}

void multinomial(KernelCall& call) {
  auto out = call.tensor("self").sizes().vec();
  out.back() = call.integer("num_samples");
  call.give(like(call.tensor("self"), out, at::kLong));
}

void nonzero_static(KernelCall& call) {
  const auto x = call.tensor("self");
  call.give(like(x, {call.integer("size"), x.dim()}, at::kLong));
}

// --- upper bounds --------------------------------------------------------------------------------

void nonzero(KernelCall& call) {
  const auto x = call.tensor("self");
  evaluation_state().assumed = Assumption::kLargest;
  call.give(like(x, {x.numel(), x.dim()}, at::kLong));
}

void masked_select(KernelCall& call) {
  const auto x = call.tensor("self");
  const auto dims = at::infer_size(x.sizes(), call.tensor("mask").sizes());
  evaluation_state().assumed = Assumption::kLargest;
  call.give(like(x, {c10::multiply_integers(dims)}));
}

/// (unique values, inverse, counts) for one value
void give_unique(KernelCall& call, const Dims& values, const Dims& inverse) {
  const auto x = call.tensor("self");
  evaluation_state().assumed = Assumption::kOneValue;
  call.give(like(x, values));
  call.give(like(x, inverse, at::kLong));
  call.give(like(x, {1}, at::kLong));
}
void unique(KernelCall& call) { give_unique(call, {1}, call.tensor("self").sizes().vec()); }
void unique_in_two(KernelCall& call) {
  unique(call);
  call.results().pop_back();
}
void unique_along(KernelCall& call) {
  const auto x = call.tensor("self");
  const auto dim = static_cast<size_t>(wrap(call.integer("dim"), x.dim()));
  auto values = x.sizes().vec();
  const Dims inverse{values[dim]};
  values[dim] = 1;
  give_unique(call, values, inverse);
}

void nms(KernelCall& call) {
  const auto boxes = call.tensor("dets");
  evaluation_state().assumed = Assumption::kLargest;
  call.give(like(boxes, {boxes.size(0)}, at::kLong));
}

// --- unknown values ------------------------------------------------------------------------------

void equal(KernelCall& call) {
  if (evaluation_state().model_is_running)
    throw DataDependent("needs values that depend on weights or inputs");
  call.answer(call.tensor("self").is_same(call.tensor("other")));
}

void needs_value(KernelCall&) {
  throw DataDependent("needs a value that depends on weights or inputs");
}

/// A value that reaches only sizes and arithmetic is assumed to be 1
/// (torchscript/run/decisions.cpp).
void local_scalar(KernelCall& call) {
  if (evaluation_state().next_value_is_condition) needs_value(call);
  const auto dtype = call.tensor("self").scalar_type();
  evaluation_state().assumed = Assumption::kNumberOne;
  if (dtype == at::kBool) return call.answer(at::Scalar(true));
  call.answer(at::isFloatingType(dtype) ? at::Scalar(1.0) : at::Scalar(int64_t{1}));
}

/// The sum of the elements of `repeats`.
void repeat_interleave(KernelCall& call) {
  const auto repeats = call.tensor("repeats");
  if (call.has("output_size")) return call.give(like(repeats, {call.integer("output_size")}));
  if (!evaluation_state().sizes_are_assumed) needs_value(call);
  evaluation_state().assumed = Assumption::kNumberOne;
  call.give(like(repeats, repeats.sizes()));
}

/// The largest element plus one.
void bincount(KernelCall& call) {
  if (!evaluation_state().sizes_are_assumed) needs_value(call);
  evaluation_state().assumed = Assumption::kNumberOne;
  const auto x = call.tensor("self");
  const auto size = std::max<int64_t>(call.integer("minlength"), 2);
  auto dtype = at::kLong;
  if (call.has("weights"))
    dtype = call.tensor("weights").scalar_type() == at::kFloat ? at::kFloat : at::kDouble;
  call.give(like(x, {size}, dtype));
}

constexpr KernelEntry kIndexingTable[] = {
    {"aten::index_select", index_select},
    {"aten::take", take},
    {"aten::_embedding_bag", embedding_bag},
    {"aten::_embedding_bag_forward_only", embedding_bag},
    {"aten::bucketize.Tensor", bucketize},
    {"aten::bucketize.Scalar", bucketize_scalar},
    {"aten::searchsorted.Tensor", bucketize},
    {"aten::searchsorted.Scalar", searchsorted_scalar},
    {"aten::histc", histc},
    {"aten::histogram.bin_ct", histogram},
    {"aten::histogram.bins_tensor", histogram_between},
    {"aten::multinomial", multinomial},
    {"aten::nonzero_static", nonzero_static},
    {"aten::nonzero", nonzero},
    {"aten::masked_select", masked_select},
    {"aten::_unique", unique_in_two},
    {"aten::_unique2", unique},
    {"aten::unique_consecutive", unique},
    {"aten::unique_dim", unique_along},
    {"aten::unique_dim_consecutive", unique_along},
    {"torchvision::nms", nms},
    {"aten::_local_scalar_dense", local_scalar},
    {"aten::equal", equal},
    {"aten::bincount", bincount},
    {"aten::repeat_interleave.Tensor", repeat_interleave},
};

}  // namespace

std::span<const KernelEntry> indexing_kernels() { return kIndexingTable; }

}  // namespace tmeter::torch_backend
