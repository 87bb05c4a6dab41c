// A layer: norms, attention or its replacement, an MLP.
#include "stack.hpp"

namespace blueprint {
namespace {

using Names = std::vector<std::string_view>;

const Names kAttention{
    "self_attn", "attn",        "attention", "self_attention", "multi_head_attention",
    "self_att",  "linear_attn", "mamba",     "mixer",          "conv"};
const Names kMixer{"mamba"};
const Names kProjections{"q_proj", "qkv_proj", "kv_a_proj_with_mqa"};
const Names kSharedMlp{"shared_mlp"};
const Names kCrossAttention{"encoder_attn"};
const Names kFeedForward{"mlp", "feed_forward", "ffn", "block_sparse_moe", "moe"};
// Norms of a layer, by the part before or after them.
const Names kPreAttentionNorms{
    "input_layernorm", "ln_1",           "attention_layernorm",  "operator_norm",    "layernorm1",
    "ln_attn",         "attention_norm", "self_attn_layer_norm", "layernorm_before", "layer_norm1",
    "norm1",           "norm",           "layer_norm",           "norm_1",           "attn_norm",
    "attn_ln"};
const Names kPreFeedForwardNorms{"pre_feedforward_layernorm",
                                 "ln_2",
                                 "ffn_norm",
                                 "layernorm2",
                                 "pre_mlp_layernorm",
                                 "feedforward_layernorm",
                                 "pre_ff_layernorm",
                                 "ln_mlp",
                                 "final_layer_norm",
                                 "layernorm_after",
                                 "layer_norm2",
                                 "norm2",
                                 "norm_2",
                                 "mlp_norm",
                                 "mlp_ln"};
const Names kPostAttentionNorms{"post_self_attn_layernorm", "post_operator_norm", "post_norm1",
                                "post_attn_norm", "sa_layer_norm"};
const Names kPostFeedForwardNorms{"post_feedforward_layernorm", "post_mlp_layernorm",
                                  "post_ffn_norm", "post_norm2", "output_layer_norm"};
/// The norm before the MLP, or after the attention.
constexpr std::string_view kPostAttentionLayerNorm = "post_attention_layernorm";

/// At most one of each; the other norms decide which of them come before and after a part.
struct LayerNorms {
  Module pre_attention, post_attention, pre_ffn, post_ffn;
};

LayerNorms norms_of(const Module& layer) {
  LayerNorms n{first_child(layer, kPreAttentionNorms), first_child(layer, kPostAttentionNorms),
               first_child(layer, kPreFeedForwardNorms), first_child(layer, kPostFeedForwardNorms)};
  if (const auto post = find_child(layer, kPostAttentionLayerNorm)) {
    if (n.pre_ffn || !n.pre_attention)
      n.post_attention = post;
    else
      n.pre_ffn = post;
  }
  return n;
}

Value normed(Program& p, const Module& norm, const Value& x) { return norm ? p.norm(norm, x) : x; }

/// x times a learned factor of each channel (DINOv2's LayerScale), if the layer has one.
Value scaled(Program& p, const Module& layer, std::string_view name, const Value& x) {
  const auto factors = find_tensor(find_child(layer, name), "lambda1");
  return factors ? p.binary("aten::mul", x, p.bound(factors)) : x;
}

/// The layer itself has both matrices (OPT, BART).
Value flat_mlp(Model& model, const Module& first, const Module& second, const Value& x, size_t i) {
  const auto wide = project(model, first, x);
  expect_width(model, find_tensor(first, "weight"), wide.back().number, i);
  return project(model, second, model.program.unary(activation(model), wide));
}

/// The layer of BERT, and of ViT's checkpoints and XLM-RoBERTa XL, whose norms come first.
Value bert_layer(Model& model, const Module& m, const Module& attention, size_t i, const Value& x) {
  auto& p = model.program;
  auto norms = norms_of(m);
  if (!norms.pre_ffn) norms.pre_ffn = find_child(m, "LayerNorm");
  const auto inner = normed(p, norms.pre_attention, x);
  const auto attended =
      p.binary("aten::add", write_attention(model, attention, inner, i, nullptr), x);
  const auto wide = p.unary("aten::gelu", feed_forward(model, find_child(m, "intermediate"),
                                                       normed(p, norms.pre_ffn, attended), i));
  return p.binary("aten::add", feed_forward(model, find_child(m, "output"), wide, i), attended);
}

/// Without this attention, a decoder's layer would not see the encoder's output.
void expect_cross(const Module& layer, const Module& cross, const Value* memory) {
  if (memory && !cross)
    throw UnsupportedStructure("'" + std::string(layer.path()) +
                               "' has no attention to the encoder");
}

/// T5's: a list of parts, each with its norm.
Value listed_layer(Model& model, const Module& parts, size_t i, Value x, const Value* memory) {
  auto& p = model.program;
  Module crossed;
  for (size_t k = 0; k < parts.child_count(); ++k) {
    const auto part = parts.child(k);
    const Program::ModuleCallScope calling(p, part, "Part");
    const auto inner = normed(p, find_child(part, "layer_norm"), x);
    const auto self = find_child(part, "SelfAttention"),
               cross = find_child(part, "EncDecAttention"),
               ffn = find_child(part, "DenseReluDense");
    if (cross) crossed = cross;
    if (!self && !ffn && !(cross && memory))
      throw UnsupportedStructure("'" + std::string(part.path()) +
                                 "' is not a known part of a layer");
    const auto y = self    ? write_attention(model, self, inner, i, nullptr)
                   : cross ? write_attention(model, cross, inner, i, memory)
                           : feed_forward(model, ffn, inner, i);
    x = p.binary("aten::add", x, y);
  }
  expect_cross(parts, crossed, memory);
  return x;
}

/// Attention, or a mixer that keeps a state instead.
Value attend(Model& model, const Module& m, const Value& x, size_t i) {
  const bool keeps_state = is_mixer(m);
  expect_kind(model, keeps_state ? Part::kMixer : Part::kAttention, m, i);
  return keeps_state ? mix_tokens(model, m, x) : write_attention(model, m, x, i, nullptr);
}

/// One part and no other (Mamba, Nemotron-H): a mixer, an attention or an MLP.
Value single_part(Model& model, const Module& part, const Value& x, size_t i) {
  if (is_mixer(part) || first_child(part, kProjections)) return attend(model, part, x, i);
  expect_kind(model, find_child(part, "experts") ? Part::kMixture : Part::kMlp, part, i);
  return feed_forward(model, part, x, i);
}

/// Zamba 2: several layers share a block of attention and MLP, and each layer has its own adapters.
/// The block sees the tokens and the previous layer's output. A mixer gets the block's output added
/// to its input.
Value layer_with_shared_block(Model& model, const Module& m, const Module& mixer, size_t i,
                              const Value& x) {
  auto& p = model.program;
  auto block = find_child(m, "shared_transformer");
  const auto number = static_cast<size_t>(model.settings.integer({"num_mem_blocks"}).value_or(1));
  if (block) {
    model.shared_blocks.push_back(block);
    if (model.shared_blocks.size() > number)
      contradict(model, model.settings.statement({"num_mem_blocks"}, static_cast<int64_t>(number)),
                 find_tensor(find_child(block, "input_layernorm"), "weight"));
  } else if (model.shared_blocks.size() == number && number > 0) {
    block = model.shared_blocks[model.shared_uses % number];
  } else {
    throw UnsupportedStructure("'" + std::string(m.path()) + "' has no shared_transformer to use");
  }
  Value y;
  {
    const Program::ModuleCallScope calling(p, block, "SharedBlock");
    y = normed(p, find_child(block, "input_layernorm"), p.concat(x, model.tokens));
    expect_if_checked(model, {"attention_hidden_size"}, y.back().number,
                      find_tensor(find_child(find_child(block, "self_attn"), "q_proj"), "weight"));
    y = write_attention(model, find_child(block, "self_attn"), y, i, nullptr);
    y = normed(p, find_child(block, "pre_ff_layernorm"), y);
    y = feed_forward(model, find_child(block, "feed_forward"), y, i);
  }
  ++model.shared_uses;
  y = project(model, find_child(m, "linear"), y);
  const Program::ModuleCallScope calling(p, mixer, "Layer");
  const auto inner = normed(p, find_child(mixer, "input_layernorm"), p.binary("aten::add", x, y));
  return p.binary("aten::add", x, attend(model, find_child(mixer, "mamba"), inner, i));
}

}  // namespace

Value write_layer(Model& model, const Module& m, size_t i, const Value& x, const Value* memory) {
  auto& p = model.program;
  const Program::ModuleCallScope calling(p, m, "Layer");
  if (const auto parts = find_child(m, "layer"); parts && find_child(parts, "0"))
    return listed_layer(model, parts, i, x, memory);
  if (const auto mixer = find_child(m, "mamba_decoder"))
    return layer_with_shared_block(model, m, mixer, i, x);
  const auto norms = norms_of(m);
  const auto attention = first_child(m, kAttention);
  if (!attention) throw UnsupportedStructure("'" + std::string(m.path()) + "' has no attention");
  if (find_child(m, "intermediate") && find_child(m, "output"))
    return bert_layer(model, m, attention, i, x);
  // Granite has shared experts beside the mixture; without a mixture they are the MLP.
  const auto routed = first_child(m, kFeedForward), shared = first_child(m, kSharedMlp);
  const auto ffn = routed ? routed : shared;
  const auto first = find_child(m, "fc1"), second = find_child(m, "fc2");
  const auto inner = normed(p, norms.pre_attention, x);
  if (!ffn && !first && !norms.pre_ffn && (is_mixer(attention) || attention.name() == "mixer"))
    return p.binary("aten::add", x, single_part(model, attention, inner, i));
  if (!ffn && !(first && second))
    throw UnsupportedStructure("'" + std::string(m.path()) + "' has no MLP");
  auto attended = normed(p, norms.post_attention, attend(model, attention, inner, i));
  attended = scaled(p, m, "layer_scale1", attended);
  // Falcon-H1 has both, side by side.
  if (const auto mixer = first_child(m, kMixer); mixer && mixer.handle() != attention.handle())
    attended = p.binary("aten::add", attended, mix_tokens(model, mixer, inner));
  const bool parallel = !norms.pre_ffn && !norms.post_ffn && !norms.post_attention;
  auto between = parallel ? inner : p.binary("aten::add", x, attended);
  const auto cross = first_child(m, kCrossAttention);
  expect_cross(m, cross, memory);
  if (cross && memory) {
    const auto norm = find_child(m, std::string(cross.name()) + "_layer_norm");
    between = p.binary("aten::add", between,
                       write_attention(model, cross, normed(p, norm, between), i, memory));
  }
  const auto given = normed(p, norms.pre_ffn, between);
  auto made = !ffn     ? flat_mlp(model, first, second, given, i)
              : routed ? feed_forward(model, ffn, given, i)
                       : feed_forward(model, ffn, given, i, Role::kShared);
  if (routed && shared)
    made = p.binary("aten::add", made, feed_forward(model, shared, given, i, Role::kShared));
  const auto fed = scaled(p, m, "layer_scale2", normed(p, norms.post_ffn, made));
  return p.binary("aten::add", parallel ? p.binary("aten::add", x, attended) : between, fed);
}

}  // namespace blueprint
