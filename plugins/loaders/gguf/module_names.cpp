#include "module_names.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace gguf {
namespace {

/// A tensor's name without block and ending, and its module's path below the layer or the model.
struct Row {
  std::string_view tensor, module;
};

/// The names of most decoders of transformers (llama, mistral, qwen, deepseek, …).
constexpr Row kCommon[] = {
    {"token_embd", "model.embed_tokens"},
    {"position_embd", "model.embed_positions"},
    {"token_embd_norm", "model.embed_norm"},
    {"output_norm", "model.norm"},
    {"output", "lm_head"},
    {"rope_freqs", "model.rotary_emb"},
    {"rope_factors_long", "model.rotary_emb"},
    {"rope_factors_short", "model.rotary_emb"},
};
constexpr Row kCommonLayer[] = {
    {"attn_norm", "input_layernorm"},
    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},
    {"attn_qkv", "self_attn.qkv_proj"},
    {"attn_output", "self_attn.o_proj"},
    {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"},
    {"attn_q_a", "self_attn.q_a_proj"},
    {"attn_q_a_norm", "self_attn.q_a_layernorm"},
    {"attn_q_b", "self_attn.q_b_proj"},
    {"attn_kv_a_mqa", "self_attn.kv_a_proj_with_mqa"},
    {"attn_kv_a_norm", "self_attn.kv_a_layernorm"},
    {"attn_kv_b", "self_attn.kv_b_proj"},
    {"attn_k_b", "self_attn.k_b_proj"},
    {"attn_v_b", "self_attn.v_b_proj"},
    {"attn_sinks", "self_attn"},
    {"attn_sub_norm", "self_attn.attn_sub_norm"},
    {"attn_gate", "self_attn.gate_proj"},
    {"attn_rot_embd", "self_attn.rotary_emb"},
    {"post_attention_norm", "post_attention_layernorm"},
    {"ffn_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},
    {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
    {"ffn_sub_norm", "mlp.ffn_sub_norm"},
    {"post_ffw_norm", "post_feedforward_layernorm"},
    {"ffn_gate_inp", "mlp.gate"},
    {"exp_probs_b", "mlp.gate"},
    {"ffn_gate_exps", "mlp.experts.gate_proj"},
    {"ffn_up_exps", "mlp.experts.up_proj"},
    {"ffn_down_exps", "mlp.experts.down_proj"},
    {"ffn_gate_up_exps", "mlp.experts.gate_up_proj"},
    {"ffn_gate_inp_shexp", "mlp.shared_expert_gate"},
    {"ffn_gate_shexp", "mlp.shared_experts.gate_proj"},
    {"ffn_up_shexp", "mlp.shared_experts.up_proj"},
    {"ffn_down_shexp", "mlp.shared_experts.down_proj"},
    {"ssm_in", "mamba.in_proj"},
    {"ssm_conv1d", "mamba.conv1d"},
    {"ssm_x", "mamba.x_proj"},
    {"ssm_dt", "mamba.dt_proj"},
    {"ssm_dt_norm", "mamba.dt_layernorm"},
    {"ssm_b_norm", "mamba.b_layernorm"},
    {"ssm_c_norm", "mamba.c_layernorm"},
    {"ssm_a", "mamba"},
    {"ssm_d", "mamba"},
    {"ssm_norm", "mamba.norm"},
    {"ssm_out", "mamba.out_proj"},
    {"nextn.eh_proj", "eh_proj"},
    {"nextn.embed_tokens", "embed_tokens"},
    {"nextn.enorm", "enorm"},
    {"nextn.hnorm", "hnorm"},
    {"nextn.shared_head_head", "shared_head.head"},
    {"nextn.shared_head_norm", "shared_head.norm"},
};

constexpr Row kGemmaLayer[] = {{"ffn_norm", "pre_feedforward_layernorm"}};
constexpr Row kAfmoeLayer[] = {{"ffn_norm", "pre_mlp_layernorm"},
                               {"post_ffw_norm", "post_mlp_layernorm"},
                               {"exp_probs_b", "mlp"}};
constexpr Row kErnieMoeLayer[] = {{"exp_probs_b", "mlp.moe_statics"}};
constexpr Row kLfm2[] = {{"token_embd_norm", "model.embedding_norm"}};
constexpr Row kLfm2Layer[] = {{"shortconv.conv", "conv.conv"},
                              {"shortconv.in_proj", "conv.in_proj"},
                              {"shortconv.out_proj", "conv.out_proj"}};
constexpr Row kGlm4Layer[] = {{"post_attention_norm", "post_self_attn_layernorm"},
                              {"post_ffw_norm", "post_mlp_layernorm"},
                              {"ffn_up", "mlp.gate_up_proj"}};
constexpr Row kPhi3Layer[] = {{"ffn_up", "mlp.gate_up_proj"}};
constexpr Row kQwenMoeLayer[] = {{"ffn_gate_shexp", "mlp.shared_expert.gate_proj"},
                                 {"ffn_up_shexp", "mlp.shared_expert.up_proj"},
                                 {"ffn_down_shexp", "mlp.shared_expert.down_proj"}};
constexpr Row kQwenHybridLayer[] = {{"ffn_gate_shexp", "mlp.shared_expert.gate_proj"},
                                    {"ffn_up_shexp", "mlp.shared_expert.up_proj"},
                                    {"ffn_down_shexp", "mlp.shared_expert.down_proj"},
                                    {"attn_qkv", "linear_attn.in_proj_qkv"},
                                    {"attn_gate", "linear_attn.in_proj_z"},
                                    {"ssm_in", "linear_attn.in_proj_qkvz"},
                                    {"ssm_ba", "linear_attn.in_proj_ba"},
                                    {"ssm_alpha", "linear_attn.in_proj_a"},
                                    {"ssm_beta", "linear_attn.in_proj_b"},
                                    {"ssm_conv1d", "linear_attn.conv1d"},
                                    {"ssm_dt", "linear_attn.dt_proj"},
                                    {"ssm_a", "linear_attn"},
                                    {"ssm_norm", "linear_attn.norm"},
                                    {"ssm_out", "linear_attn.out_proj"}};
constexpr Row kGrokLayer[] = {{"attn_output_norm", "post_self_attn_layernorm"},
                              {"layer_output_norm", "post_mlp_layernorm"}};
constexpr Row kGptOssLayer[] = {{"post_attention_norm", "post_attention_layernorm"},
                                {"ffn_gate_inp", "mlp.router"}};
constexpr Row kPhi2[] = {{"output_norm", "model.final_layernorm"}};
constexpr Row kPhi2Layer[] = {
    {"attn_output", "self_attn.dense"}, {"ffn_up", "mlp.fc1"}, {"ffn_down", "mlp.fc2"}};
constexpr Row kStarcoder2Layer[] = {{"ffn_up", "mlp.c_fc"}, {"ffn_down", "mlp.c_proj"}};

constexpr Row kGpt2[] = {{"token_embd", "transformer.wte"},
                         {"position_embd", "transformer.wpe"},
                         {"output_norm", "transformer.ln_f"}};
constexpr Row kGpt2Layer[] = {{"attn_norm", "ln_1"},          {"attn_qkv", "attn.c_attn"},
                              {"attn_output", "attn.c_proj"}, {"ffn_norm", "ln_2"},
                              {"ffn_up", "mlp.c_fc"},         {"ffn_down", "mlp.c_proj"}};

constexpr Row kGptNeoX[] = {{"token_embd", "gpt_neox.embed_in"},
                            {"output_norm", "gpt_neox.final_layer_norm"},
                            {"output", "embed_out"}};
constexpr Row kGptNeoXLayer[] = {{"attn_qkv", "attention.query_key_value"},
                                 {"attn_output", "attention.dense"},
                                 {"ffn_up", "mlp.dense_h_to_4h"},
                                 {"ffn_down", "mlp.dense_4h_to_h"}};

constexpr Row kFalcon[] = {{"token_embd", "transformer.word_embeddings"},
                           {"token_embd_norm", "transformer.word_embeddings_layernorm"},
                           {"output_norm", "transformer.ln_f"}};
constexpr Row kFalconLayer[] = {{"attn_norm_2", "ln_attn"},
                                {"attn_qkv", "self_attention.query_key_value"},
                                {"attn_output", "self_attention.dense"},
                                {"ffn_up", "mlp.dense_h_to_4h"},
                                {"ffn_down", "mlp.dense_4h_to_h"}};

constexpr Row kBert[] = {{"token_embd", "embeddings.word_embeddings"},
                         {"position_embd", "embeddings.position_embeddings"},
                         {"token_types", "embeddings.token_type_embeddings"},
                         {"token_embd_norm", "embeddings.LayerNorm"}};
constexpr Row kBertLayer[] = {{"attn_q", "attention.self.query"},
                              {"attn_k", "attention.self.key"},
                              {"attn_v", "attention.self.value"},
                              {"attn_output", "attention.output.dense"},
                              {"attn_output_norm", "attention.output.LayerNorm"},
                              {"ffn_up", "intermediate.dense"},
                              {"ffn_down", "output.dense"},
                              {"layer_output_norm", "output.LayerNorm"}};

constexpr Row kNomicBert[] = {{"token_embd", "embeddings.word_embeddings"},
                              {"token_types", "embeddings.token_type_embeddings"},
                              {"token_embd_norm", "emb_ln"}};
constexpr Row kNomicBertLayer[] = {{"attn_qkv", "attn.Wqkv"},     {"attn_output", "attn.out_proj"},
                                   {"attn_output_norm", "norm1"}, {"ffn_gate", "mlp.fc12"},
                                   {"ffn_up", "mlp.fc11"},        {"ffn_down", "mlp.fc2"},
                                   {"layer_output_norm", "norm2"}};
constexpr Row kJinaBert3Layer[] = {{"attn_qkv", "mixer.Wqkv"},    {"attn_output", "mixer.out_proj"},
                                   {"attn_output_norm", "norm1"}, {"ffn_up", "mlp.fc1"},
                                   {"ffn_down", "mlp.fc2"},       {"layer_output_norm", "norm2"}};

constexpr Row kModernBertLayer[] = {{"attn_norm", "attn_norm"},     {"attn_qkv", "attn.Wqkv"},
                                    {"attn_output", "attn.Wo"},     {"ffn_norm", "mlp_norm"},
                                    {"ffn_up", "mlp.gate_up_proj"}, {"ffn_down", "mlp.down_proj"}};

// Two stacks of layers, each a list of parts.
constexpr Row kT5[] = {{"token_embd", "shared"},
                       {"enc.output_norm", "encoder.final_layer_norm"},
                       {"dec.output_norm", "decoder.final_layer_norm"}};
constexpr Row kT5Encoder[] = {{"attn_norm", "layer.0.layer_norm"},
                              {"attn_q", "layer.0.SelfAttention.q"},
                              {"attn_k", "layer.0.SelfAttention.k"},
                              {"attn_v", "layer.0.SelfAttention.v"},
                              {"attn_o", "layer.0.SelfAttention.o"},
                              {"attn_rel_b", "layer.0.SelfAttention.relative_attention_bias"},
                              {"ffn_norm", "layer.1.layer_norm"},
                              {"ffn_gate", "layer.1.DenseReluDense.wi_0"},
                              {"ffn_up", "layer.1.DenseReluDense.wi_1"},
                              {"ffn_down", "layer.1.DenseReluDense.wo"}};
constexpr Row kT5Decoder[] = {
    {"attn_norm", "layer.0.layer_norm"},
    {"attn_q", "layer.0.SelfAttention.q"},
    {"attn_k", "layer.0.SelfAttention.k"},
    {"attn_v", "layer.0.SelfAttention.v"},
    {"attn_o", "layer.0.SelfAttention.o"},
    {"attn_rel_b", "layer.0.SelfAttention.relative_attention_bias"},
    {"cross_attn_norm", "layer.1.layer_norm"},
    {"cross_attn_q", "layer.1.EncDecAttention.q"},
    {"cross_attn_k", "layer.1.EncDecAttention.k"},
    {"cross_attn_v", "layer.1.EncDecAttention.v"},
    {"cross_attn_o", "layer.1.EncDecAttention.o"},
    {"cross_attn_rel_b", "layer.1.EncDecAttention.relative_attention_bias"},
    {"ffn_norm", "layer.2.layer_norm"},
    {"ffn_gate", "layer.2.DenseReluDense.wi_0"},
    {"ffn_up", "layer.2.DenseReluDense.wi_1"},
    {"ffn_down", "layer.2.DenseReluDense.wo"}};

constexpr Row kMamba[] = {{"token_embd", "backbone.embeddings"},
                          {"output_norm", "backbone.norm_f"}};
constexpr Row kMambaLayer[] = {
    {"attn_norm", "norm"},     {"ssm_in", "mixer.in_proj"}, {"ssm_conv1d", "mixer.conv1d"},
    {"ssm_x", "mixer.x_proj"}, {"ssm_dt", "mixer.dt_proj"}, {"ssm_a", "mixer"},
    {"ssm_d", "mixer"},        {"ssm_norm", "mixer.norm"},  {"ssm_out", "mixer.out_proj"}};

constexpr Row kNemotronH[] = {{"token_embd", "model.embeddings"}, {"output_norm", "model.norm_f"}};
constexpr Row kNemotronHLayer[] = {{"attn_norm", "norm"},
                                   {"attn_q", "mixer.q_proj"},
                                   {"attn_k", "mixer.k_proj"},
                                   {"attn_v", "mixer.v_proj"},
                                   {"attn_output", "mixer.o_proj"},
                                   {"ssm_in", "mixer.in_proj"},
                                   {"ssm_conv1d", "mixer.conv1d"},
                                   {"ssm_dt", "mixer.dt_proj"},
                                   {"ssm_a", "mixer"},
                                   {"ssm_d", "mixer"},
                                   {"ssm_norm", "mixer.norm"},
                                   {"ssm_out", "mixer.out_proj"},
                                   {"ffn_up", "mixer.up_proj"},
                                   {"ffn_down", "mixer.down_proj"},
                                   {"ffn_gate_inp", "mixer.gate"},
                                   {"exp_probs_b", "mixer.gate"},
                                   {"ffn_up_exps", "mixer.experts.up_proj"},
                                   {"ffn_down_exps", "mixer.experts.down_proj"},
                                   {"ffn_latent_down", "mixer.fc1_latent_proj"},
                                   {"ffn_latent_up", "mixer.fc2_latent_proj"},
                                   {"ffn_up_shexp", "mixer.shared_experts.up_proj"},
                                   {"ffn_down_shexp", "mixer.shared_experts.down_proj"}};

constexpr Row kJamba[] = {{"output_norm", "model.final_layernorm"}};
constexpr Row kJambaLayer[] = {{"ffn_norm", "pre_ff_layernorm"},
                               {"ffn_gate", "feed_forward.gate_proj"},
                               {"ffn_up", "feed_forward.up_proj"},
                               {"ffn_down", "feed_forward.down_proj"},
                               {"ffn_gate_inp", "feed_forward.router"},
                               {"ffn_gate_exps", "feed_forward.experts.gate_proj"},
                               {"ffn_up_exps", "feed_forward.experts.up_proj"},
                               {"ffn_down_exps", "feed_forward.experts.down_proj"}};

/// Where the modules of an architecture differ from the common ones.
struct Naming {
  std::string_view architectures;  // general.architecture, separated by spaces
  std::string_view layers;
  std::span<const Row> model, layer;
};

constexpr Naming kNamings[] = {
    {"gemma2 gemma3 gemma3n gemma4 gemma-embedding", "model.layers", {}, kGemmaLayer},
    {"afmoe", "model.layers", {}, kAfmoeLayer},
    {"ernie4_5-moe", "model.layers", {}, kErnieMoeLayer},
    {"lfm2 lfm2moe", "model.layers", kLfm2, kLfm2Layer},
    {"glm4", "model.layers", {}, kGlm4Layer},
    {"phi3 chatglm", "model.layers", {}, kPhi3Layer},
    {"qwen2moe", "model.layers", {}, kQwenMoeLayer},
    {"qwen3next qwen35 qwen35moe", "model.layers", {}, kQwenHybridLayer},
    {"jamba falcon-h1", "model.layers", kJamba, kJambaLayer},
    {"nemotron_h nemotron_h_moe", "model.layers", kNemotronH, kNemotronHLayer},
    {"grok", "model.layers", {}, kGrokLayer},
    {"gpt-oss", "model.layers", {}, kGptOssLayer},
    {"phi2", "model.layers", kPhi2, kPhi2Layer},
    {"starcoder2", "model.layers", {}, kStarcoder2Layer},
    {"gpt2 starcoder", "transformer.h", kGpt2, kGpt2Layer},
    {"gptneox", "gpt_neox.layers", kGptNeoX, kGptNeoXLayer},
    {"falcon bloom", "transformer.h", kFalcon, kFalconLayer},
    {"bert", "encoder.layer", kBert, kBertLayer},
    {"nomic-bert", "encoder.layers", kNomicBert, kNomicBertLayer},
    {"jina-bert-v3", "encoder.layers", kNomicBert, kJinaBert3Layer},
    {"modern-bert", "model.layers", {}, kModernBertLayer},
    {"t5 t5encoder", "", kT5, {}},
    {"mamba mamba2", "backbone.layers", kMamba, kMambaLayer},
};
constexpr Naming kDefault{"", "model.layers", {}, {}};

bool has_word(std::string_view words, std::string_view word) {
  for (size_t at = words.find(word); at != words.npos; at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' '))
      return true;
  }
  return false;
}

const Naming& naming_of(std::string_view architecture) {
  if (architecture.empty()) return kDefault;
  const auto* it = std::find_if(std::begin(kNamings), std::end(kNamings), [&](const Naming& n) {
    return has_word(n.architectures, architecture);
  });
  return it == std::end(kNamings) ? kDefault : *it;
}

/// Empty when neither table has it.
std::string_view find(std::span<const Row> own, std::span<const Row> common,
                      std::string_view tensor) {
  for (const auto rows : {own, common})
    for (const auto& row : rows)
      if (row.tensor == tensor) return row.module;
  return {};
}

/// The module's name, without the parameter's: "attn_q.weight" → "attn_q".
std::string_view without_ending(std::string_view name) {
  for (const std::string_view ending :
       {".weight", ".bias", ".scale", ".input_scale", ".weight.lora_a", ".weight.lora_b"})
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  return name;
}

/// A stack of layers: how its tensors' names begin, and its own modules if it is one of two.
struct Stack {
  std::string_view begin, layers = {};
  std::span<const Row> rows = {};
};
constexpr Stack kStacks[] = {
    {"blk."}, {"enc.blk.", "encoder.block", kT5Encoder}, {"dec.blk.", "decoder.block", kT5Decoder}};

/// Null for a name outside of all stacks.
const Stack* stack_of(std::string_view name) {
  const auto* it = std::find_if(std::begin(kStacks), std::end(kStacks),
                                [&](const Stack& s) { return name.starts_with(s.begin); });
  return it == std::end(kStacks) ? nullptr : it;
}

/// "7" of "blk.7.attn_q.weight"; empty for other names. `rest`: the text after it.
std::string_view block_of(std::string_view name, std::string_view& rest) {
  const auto* stack = stack_of(name);
  if (!stack) return {};
  const auto begin = stack->begin.size(), end = name.find('.', begin);
  if (end == name.npos) return {};
  const auto number = name.substr(begin, end - begin);
  if (number.empty() || number.find_first_not_of("0123456789") != number.npos) return {};
  rest = name.substr(end + 1);
  return number;
}

/// Experts one by one, as files of 2023 have them: "ffn_gate.5" → "mlp.experts.5.gate_proj".
std::string single_expert(std::string_view stem) {
  for (const std::string_view part : {"gate", "up", "down"}) {
    const auto begin = "ffn_" + std::string(part) + ".";
    if (!stem.starts_with(begin)) continue;
    const auto number = stem.substr(begin.size());
    if (!number.empty() && number.find_first_not_of("0123456789") == number.npos)
      return "mlp.experts." + std::string(number) + "." + std::string(part) + "_proj";
  }
  return {};
}

std::string folder_of(std::string_view name) {
  const auto dot = name.rfind('.');
  return std::string(dot == name.npos ? std::string_view() : name.substr(0, dot));
}

}  // namespace

std::string_view layer_number(std::string_view name) {
  std::string_view rest;
  return block_of(name, rest);
}

std::string module_of(std::string_view name, std::string_view architecture) {
  const auto& naming = naming_of(architecture);
  std::string_view rest;
  const auto block = block_of(name, rest);
  if (block.empty()) {
    const auto module = find(naming.model, kCommon, without_ending(name));
    return module.empty() ? folder_of(name) : std::string(module);
  }
  const auto stem = without_ending(rest);
  const auto& stack = *stack_of(name);
  const auto module = find(stack.rows.empty() ? naming.layer : stack.rows,
                           stack.rows.empty() ? kCommonLayer : std::span<const Row>(), stem);
  auto path = module.empty() ? single_expert(stem) : std::string(module);
  if (path.empty()) path = folder_of(rest);
  const auto layer =
      std::string(stack.rows.empty() ? naming.layers : stack.layers) + "." + std::string(block);
  return path.empty() ? layer : layer + "." + path;
}

}  // namespace gguf
