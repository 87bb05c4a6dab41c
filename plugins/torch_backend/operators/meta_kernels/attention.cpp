// Attention, and the fused transformer operators in traces made in evaluation mode.
#include "operators/meta_kernels/registry.hpp"

namespace tmeter::torch_backend {
namespace {

// query, key, value [B, H, L, E] → (in the layout of query, logsumexp [B, H, L] in the layout
// [B, L, H])
void sdpa_flash_cpu(KernelCall& call) {
  const auto q = call.tensor("query");
  call.give(at::empty_like(q));
  call.give(like(q, {q.size(0), q.size(2), q.size(1)},
                 q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat)
                .transpose(1, 2));
}

// → (output [B, L, E], weights [B, L, S] or per head [B, H, L, S], undefined unless requested)
void native_multi_head_attention(KernelCall& call) {
  const auto q = call.tensor("query"), k = call.tensor("key");
  auto out = q.sizes().vec();
  out.back() = call.integer("embed_dim");
  call.give(like(q, out));
  if (!call.boolean("need_weights")) return call.give(at::Tensor());
  Dims weights{q.size(0), q.size(1), k.size(1)};
  if (!call.boolean("average_attn_weights"))
    weights.insert(weights.begin() + 1, call.integer("num_head"));
  call.give(like(q, weights));
}

void like_src(KernelCall& call) { call.give(at::empty_like(call.tensor("src"))); }

void masked_softmax(KernelCall& call) { call.give(at::empty_like(call.tensor("self"))); }

// qkv [B, T, 3 * D] → three of [B, H, T, D / H]
void split_qkv(KernelCall& call) {
  const auto qkv = call.tensor("qkv");
  const int64_t heads = call.integer("num_heads"), width = qkv.size(2) / 3;
  for (int i = 0; i < 3; ++i)
    call.give(like(qkv, {qkv.size(0), heads, qkv.size(1), width / heads}));
}

constexpr KernelEntry kAttentionTable[] = {
    {"aten::_scaled_dot_product_flash_attention_for_cpu", sdpa_flash_cpu},
    {"aten::_native_multi_head_attention", native_multi_head_attention},
    {"aten::_transformer_encoder_layer_fwd", like_src},
    {"aten::_masked_softmax", masked_softmax},
    {"aten::_transform_bias_rescale_qkv", split_qkv},
};

}  // namespace

std::span<const KernelEntry> attention_kernels() { return kAttentionTable; }

}  // namespace tmeter::torch_backend
