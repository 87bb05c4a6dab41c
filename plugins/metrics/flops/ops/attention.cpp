// Attention. Scores are counted in full: a causal or sparse mask changes nothing here, as in
// torch.utils.flop_counter.sdpa_flop_count (half of which is the MACs).
#include <algorithm>

#include "elementwise.hpp"
#include "facts.hpp"

namespace flops {
namespace {

const Names kHeadsFirst{"aten::scaled_dot_product_attention",
                        "aten::_scaled_dot_product_attention_math",
                        "aten::_scaled_dot_product_attention_math_for_mps",
                        "aten::_scaled_dot_product_flash_attention",
                        "aten::_scaled_dot_product_flash_attention_for_cpu",
                        "aten::_scaled_dot_product_efficient_attention",
                        "aten::_scaled_dot_product_cudnn_attention",
                        "aten::_scaled_dot_product_fused_attention_overrideable",
                        "aten::_triton_scaled_dot_attention",
                        "aten::_cudnn_attention_forward",
                        "aten::_cudnn_attention_forward_no_dropout_inplace",
                        "higher_order::flex_attention"};
const Names kFlash{"aten::_flash_attention_forward",
                   "aten::_flash_attention_forward_no_dropout_inplace"};
const Names kEfficient{"aten::_efficient_attention_forward"};

/// One attention: `rows` (batch × heads) times queries × keys, of width qk_width and v_width.
struct Sizes {
  Count rows = 1, queries = 0, keys = 0, qk_width = 0, v_width = 0;
  Count scores() const { return rows * queries * keys; }
  // q @ kᵀ and scores @ v.
  Count macs() const { return scores() * (qk_width + v_width); }
  // Softmax 5 per score (max, subtract, exp, sum, divide), scale 1, an additive mask 1.
  Count other(bool mask) const { return scores() * (mask ? 7 : 6); }
};

Shape shape_of(const Node& n, std::string_view name, std::string_view short_name) {
  const auto s = tensor_arg(n, {name, short_name}).shape();
  if (s.rank() < 2) throw Unsupported("attention over something other than a matrix");
  return s;
}

// [batch…, heads, length, width]. Batch dims may broadcast and key/value heads may be shared by
// groups of query heads (enable_gqa): the result has them all.
Sizes heads_first(const Node& n) {
  const auto q = shape_of(n, "query", "q"), k = shape_of(n, "key", "k");
  const auto v = shape_of(n, "value", "v"), out = output(n).shape();
  return {out.product(0, out.rank() - 2), q[-2], k[-2], q[-1], v[-1]};
}

// The kernels below scaled_dot_product_attention: [batch, length, heads, width], or packed
// [all lengths, heads, width] with offsets; then every sequence counts with the longest length, as
// FlopCounterMode does when it cannot see the offsets.
Sizes length_first(const Node& n, std::string_view offsets, std::string_view max_q,
                   std::string_view max_k) {
  const auto q = shape_of(n, "query", "q"), k = shape_of(n, "key", "k");
  const auto v = shape_of(n, "value", "v");
  if (const auto o = n.arg(offsets); o.is_tensor()) {
    const auto sequences = o.numel() - 1;
    return {sequences * q[-2], n.arg(max_q).as_int(), n.arg(max_k).as_int(), q[-1], v[-1]};
  }
  return {q.product(0, q.rank() - 3) * q[-2], q[-3], k[-3], q[-1], v[-1]};
}

Sizes flash(const Node& n) { return length_first(n, "cum_seq_q", "max_q", "max_k"); }
Sizes efficient(const Node& n) {
  return length_first(n, "cu_seqlens_q", "max_seqlen_q", "max_seqlen_k");
}

/// The layout of a plain attention operator's arguments; empty for all others.
using SizesOf = Sizes (*)(const Node&);
SizesOf layout_of(std::string_view op) {
  const auto among = [op](Names names) {
    return std::find(names.begin(), names.end(), op) != names.end();
  };
  if (among(kHeadsFirst)) return heads_first;
  if (among(kFlash)) return flash;
  if (among(kEfficient)) return efficient;
  return nullptr;
}

template <Sizes (*sizes)(const Node&)>
Count attention_macs(const Node& n) {
  return sizes(n).macs();
}
template <Sizes (*sizes)(const Node&)>
Count attention_other(const Node& n) {
  return sizes(n).other(has_tensor(n, {"attn_mask", "attn_bias", "bias"}));
}

// --- whole layers ----------------------------------------------------------------------------

// nn.MultiheadAttention: query [batch, length, embed_dim]; the width of all heads is embed_dim.
struct Layer {
  Count tokens_q, tokens_k, embed, heads;
  Sizes attention;
  // Input projections of query, key and value, attention, output projection.
  Count macs() const {
    return (tokens_q + tokens_k + tokens_k + tokens_q) * embed * embed + attention.macs();
  }
  Count biases() const { return (tokens_q + tokens_k + tokens_k + tokens_q) * embed; }
};

Layer layer(const Node& n, const Value& query, const Value& key, std::string_view heads_arg) {
  const auto q = query.shape(), k = key.shape();
  if (q.rank() != 3 || k.rank() != 3) throw Unsupported("fused attention over no [B, T, E] tensor");
  const Count embed = n.arg("embed_dim").as_int(), heads = n.arg(heads_arg).as_int(1);
  if (heads < 1) throw Unsupported("fused attention without heads");
  const Count width = embed / heads;
  return {q[0] * Count(q[1]),
          k[0] * Count(k[1]),
          embed,
          heads,
          {q[0] * heads, q[1], k[1], width, width}};
}

Layer multi_head(const Node& n) {
  return layer(n, tensor_arg(n, {"query"}), tensor_arg(n, {"key"}), "num_head");
}
Count multi_head_macs(const Node& n) { return multi_head(n).macs(); }
Count multi_head_other(const Node& n) {
  const auto l = multi_head(n);
  return l.biases() + l.attention.other(has_tensor(n, {"mask"}));
}

// nn.TransformerEncoderLayer: self-attention, then two linears of ffn width.
Layer encoder_attention(const Node& n) {
  const auto src = tensor_arg(n, {"src"});
  return layer(n, src, src, "num_heads");
}
Count encoder_macs(const Node& n) {
  const auto l = encoder_attention(n);
  const auto w1 = tensor_arg(n, {"ffn_weight_1"}).numel(),
             w2 = tensor_arg(n, {"ffn_weight_2"}).numel();
  return l.macs() + l.tokens_q * (w1 + w2);
}
// Two layer norms of 8, two residual additions and the second bias per element; bias and activation
// per element of the feed-forward width.
Count encoder_other(const Node& n) {
  const auto l = encoder_attention(n);
  const Count width = tensor_arg(n, {"ffn_weight_1"}).shape().front();
  const Count activation = n.arg("use_gelu").as_bool() ? kGeluErfCost : kReluCost;
  return l.biases() + l.attention.other(has_tensor(n, {"mask"})) +
         l.tokens_q * (l.embed * (2 * 8 + 2 + 1) + width * (activation + 1));
}

// The step before fused attention: adds the bias to q, k and v, scales q.
Count bias_and_rescale(const Node& n) {
  const auto qkv = tensor_arg(n, {"qkv"}).numel();
  return qkv + qkv / 3;
}

// Which corner the diagonal starts from matters when there are more keys than queries or fewer.
enum class Causal { kNo, kTopLeft, kBottomRight };

// scaled_dot_product_attention: tril(ones(L, S)), from the top left (its documentation). The flash
// kernels align to the bottom right since FlashAttention 2.1; the memory-efficient one is passed
// the alignment.
Causal causal_of(const Node& n) {
  if (const auto type = n.arg("custom_mask_type"); !type.is_none())
    return type.as_int() == 1   ? Causal::kTopLeft
           : type.as_int() == 2 ? Causal::kBottomRight
                                : Causal::kNo;
  if (!n.arg("is_causal").as_bool()) return Causal::kNo;
  const bool flash_kernel = std::find(kFlash.begin(), kFlash.end(), n.op()) != kFlash.end();
  return flash_kernel ? Causal::kBottomRight : Causal::kTopLeft;
}

// Row i keeps clamp(i + first, 0, keys) scores: sums of arithmetic series.
Count triangle(int64_t queries, int64_t keys, int64_t first) {
  const int64_t empty = std::clamp<int64_t>(-first + 1, 0, queries);  // rows without kept scores
  const int64_t full_from = std::clamp<int64_t>(keys - first, empty, queries);
  const Count rising = full_from - empty;
  const Count ends = Count(empty + first) + (full_from - 1 + first);
  return (rising == Count(0) ? Count(0) : rising * ends / 2) + Count(queries - full_from) * keys;
}

}  // namespace

std::optional<Count> macs_per_score(const Node& n) {
  const auto layout = layout_of(n.op());
  if (!layout) return std::nullopt;
  const auto sizes = layout(n);
  return sizes.qk_width + sizes.v_width;
}

std::optional<CausalShare> causal_share(const Node& n) {
  const auto layout = layout_of(n.op());
  const auto causal = layout ? causal_of(n) : Causal::kNo;
  if (causal == Causal::kNo) return std::nullopt;
  const auto sizes = layout(n);
  const auto queries = sizes.queries.value(), keys = sizes.keys.value();
  if (queries == 0 || keys == 0) return std::nullopt;
  const int64_t first = causal == Causal::kBottomRight ? 1 + keys - queries : 1;
  return CausalShare{triangle(queries, keys, first), Count(queries) * keys};
}

std::optional<FusedAttention> fused_attention(const Node& n) {
  if (n.op() != "aten::_native_multi_head_attention") return std::nullopt;
  const auto l = multi_head(n);
  return FusedAttention{l.biases(), l.attention.scores(), l.tokens_q * l.embed};
}

void register_attention(tmeter::Registrar& r) {
  rules(r, kHeadsFirst, attention_macs<heads_first>, attention_other<heads_first>);
  rules(r, kFlash, attention_macs<flash>, attention_other<flash>);
  rules(r, kEfficient, attention_macs<efficient>, attention_other<efficient>);
  rules(r, {"aten::_native_multi_head_attention", "aten::_triton_multi_head_attention"},
        multi_head_macs, multi_head_other);
  rules(r, {"aten::_transformer_encoder_layer_fwd"}, encoder_macs, encoder_other);
  other_rules(r, {"aten::_transform_bias_rescale_qkv"}, bias_and_rescale);
}

}  // namespace flops
