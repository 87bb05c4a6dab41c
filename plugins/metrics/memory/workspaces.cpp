#include "workspaces.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <tmeter/cpp/op_class.hpp>

#include "plugins/common/uses.hpp"
#include "traffic.hpp"

namespace memory {
namespace {

using plugins::Sizes;
using plugins::Strided;
using tmeter::Count;
using tmeter::Node;
using tmeter::Value;

Value first_tensor_of(const Node& node) {
  for (size_t i = 0; i < node.arg_count(); ++i)
    if (node.arg(i).is_tensor()) return node.arg(i);
  return Value();
}

Value input_arg(const Node& node) {
  const auto value = node.arg("input");
  return value.is_none() ? node.arg("self") : value;
}

/// Bytes of a copy if the tensor is known not to be contiguous.
Count contiguous_copy(const Value& value, const Kernels& k) {
  const auto* s = layout_of(value, k);
  return s && !plugins::is_contiguous(*s) ? value.bytes() : Count(0);
}

// --- statistics that inference computes and discards ---

Count batch_norm(const Node& node, const Kernels&) {
  const auto x = input_arg(node);
  return x.shape().rank() < 2 ? Count(0) : Count(x.shape()[1]) * Count(2 * kFloat);
}

Count layer_norm(const Node& node, const Kernels& k) {
  const auto x = input_arg(node);
  const auto normalized = static_cast<int64_t>(node.arg("normalized_shape").size());
  const auto rank = x.shape().rank();
  if (normalized > rank) return 0;
  return x.shape().product(0, rank - normalized) * Count(2 * kFloat) + contiguous_copy(x, k);
}

Count group_norm(const Node& node, const Kernels& k) {
  const auto x = input_arg(node);
  if (x.shape().empty()) return 0;
  return Count(x.shape()[0]) * Count(std::max<int64_t>(node.arg("num_groups").as_int(), 0)) *
             Count(2 * kFloat) +
         contiguous_copy(x, k);
}

Count softmax(const Node& node, const Kernels& k) { return contiguous_copy(input_arg(node), k); }

// --- products of tensors that are not in the layout of the kernel ---

/// A copy in the sizes in which `matmul` calls `bmm`, unless a view suffices.
Count copy_for_product(const Value& v, const Sizes& batch, const Kernels& k) {
  const auto* s = layout_of(v, k);
  if (!s || s->sizes.size() < 2) return 0;
  Strided wide{batch, Sizes(batch.size(), 0)};
  const size_t rank = s->sizes.size();
  for (size_t i = 0; i + 2 < rank; ++i) {
    const size_t to = batch.size() - (rank - 2) + i;
    if (s->sizes[i] == wide.sizes[to]) wide.strides[to] = s->strides[i];
  }
  const auto matrices = plugins::product_of(batch);
  if (!matrices) return 0;
  Sizes flat{*matrices};
  for (size_t i = rank - 2; i < rank; ++i) {
    wide.sizes.push_back(s->sizes[i]), wide.strides.push_back(s->strides[i]);
    flat.push_back(s->sizes[i]);
  }
  // The product throws if it overflows.
  const Count bytes = Count(flat[0]) * Count(flat[1]) * Count(flat[2]) * v.dtype().bytes();
  return plugins::view_strides(wide, flat) ? Count(0) : bytes;
}

/// Views of a trainable tensor are trainable, too, up to a `detach`.
bool is_trainable(Value v) {
  constexpr int kMaxViews = 8;
  for (int steps = 0; steps < kMaxViews && !v.tensor(); ++steps) {
    const auto by = v.producer();
    if (!by || !plugins::is_skipped(by, plugins::SkippedOps::kView)) return false;
    if (tmeter::base_name(by.op()) == "detach") return false;
    v = by.arg(0);
  }
  return v.tensor() && v.tensor().trainable();
}

/// A copy of the rows as one matrix, unless a view suffices.
Count copy_of_rows(const Value& v, const Kernels& k) {
  const auto* s = layout_of(v, k);
  if (!s || s->sizes.size() < 3) return 0;
  const auto rows = plugins::product_of(std::span(s->sizes).first(s->sizes.size() - 1));
  return !rows || plugins::view_strides(*s, {*rows, s->sizes.back()}) ? Count(0) : v.bytes();
}

/// Many matrices times one. All rows at once if it is trainable, even if that needs a copy
/// (`should_fold`); else, if the rows are not evenly spaced, each matrix of the batch separately.
Count product_with_matrix(const Value& x, const Value& matrix, const Kernels& k) {
  const auto rank = x.shape().rank();
  if (rank < 3) return 0;
  if (is_trainable(matrix)) return copy_of_rows(x, k);
  return copy_for_product(x, Sizes(x.shape().begin(), x.shape().begin() + (rank - 2)), k);
}

Count matmul(const Node& node, const Kernels& k) {
  const auto a = input_arg(node), b = node.arg("other"), out = node.result(0);
  if (!can_be_sized(a) || !can_be_sized(b) || !can_be_sized(out)) return 0;
  const auto rank = out.shape().rank();
  if (a.shape().rank() >= 3 && b.shape().rank() == 2) return product_with_matrix(a, b, k);
  if (std::min(a.shape().rank(), b.shape().rank()) < 3 || rank < 3) return 0;
  (void)out.bytes();  // throws if the size exceeds 63 bits
  const Sizes batch(out.shape().begin(), out.shape().begin() + (rank - 2));
  return copy_for_product(a, batch, k) + copy_for_product(b, batch, k);
}

Count linear(const Node& node, const Kernels& k) {
  return product_with_matrix(input_arg(node), node.arg("weight"), k);
}

// --- others ---

/// Blocks of queries: 256, 64 or 32 by their number; of keys: 512. Per thread a block of scores,
/// two statistics for each query, and a block of results.
Count attention(const Node& node, const Kernels& k) {
  const auto q = node.arg("query"), key = node.arg("key"), v = node.arg("value");
  if (!is_plain_float(q) || !is_plain_float(key) || !is_plain_float(v)) return 0;
  if (q.shape().rank() != 4 || key.shape().rank() != 4 || v.shape().rank() != 4) return 0;
  const auto queries = q.shape()[-2];
  const Count rows = std::min<int64_t>(queries >= 768 ? 256 : queries >= 192 ? 64 : 32, queries);
  const Count columns = std::min<int64_t>(512, key.shape()[-2]);
  const Count thread = rows * columns + rows * Count(2) + rows * Count(v.shape()[-1]);
  const auto mask = node.arg("attn_mask");
  const bool as_numbers = mask.is_tensor() && mask.dtype().bytes() == 1 && can_be_sized(mask);
  return q.shape().product(0, 3) * Count(kFloat) + Count(k.threads) * thread * Count(kFloat) +
         (as_numbers ? mask.numel() * Count(kFloat) : Count(0));
}

/// One dim after the other.
Count roll(const Node& node, const Kernels&) {
  const auto dims = static_cast<int64_t>(node.arg("dims").size());
  return dims > 1 ? node.result(0).bytes() * Count(dims - 1) : Count(0);
}

struct Rule {
  std::string_view name;
  Count (*bytes)(const Node&, const Kernels&);
};
constexpr std::array<Rule, 19> kRules{{
    {"conv1d", convolution_workspace},
    {"conv2d", convolution_workspace},
    {"conv3d", convolution_workspace},
    {"convolution", convolution_workspace},
    {"_convolution", convolution_workspace},
    {"max_pool2d", max_pool_workspace},
    {"max_pool3d", max_pool_workspace},
    {"lstm", lstm_workspace},
    {"gru", gru_workspace},
    {"rnn_tanh", rnn_workspace},
    {"rnn_relu", rnn_workspace},
    {"batch_norm", batch_norm},
    {"layer_norm", layer_norm},
    {"group_norm", group_norm},
    {"softmax", softmax},
    {"matmul", matmul},
    {"linear", linear},
    {"scaled_dot_product_attention", attention},
    {"roll", roll},
}};

}  // namespace

bool is_plain_float(const Value& value) {
  return value.is_tensor() && can_be_sized(value) && value.dtype().id() == TMETER_DTYPE_FLOAT32;
}

const Strided* layout_of(const Value& value, const Kernels& k) {
  return k.layouts ? k.layouts->of(value) : nullptr;
}

Count workspace_of(const Node& node, const Kernels& kernels) {
  const auto name = tmeter::base_name(node.op());
  const auto* rule =
      std::find_if(kRules.begin(), kRules.end(), [&](const Rule& r) { return r.name == name; });
  if (rule == kRules.end() || !node.op().starts_with("aten::")) return 0;
  const bool plain = is_plain_float(first_tensor_of(node)) && is_plain_float(node.result(0));
  return plain ? rule->bytes(node, kernels) : Count(0);
}

}  // namespace memory
