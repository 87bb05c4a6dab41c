#include "gguf_settings.hpp"

#include <algorithm>
#include <iterator>
#include <span>

namespace blueprint {
namespace {

constexpr std::string_view kSpaceOfGguf = "gguf";

struct Key {
  std::string_view gguf, config;  // the first without the architecture
};
// Keys of gguf-py's constants.py (0.19).
constexpr Key kKeys[] = {
    {"block_count", "num_hidden_layers"},
    {"decoder_block_count", "num_decoder_layers"},
    {"embedding_length", "hidden_size"},
    {"feed_forward_length", "intermediate_size"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"expert_shared_feed_forward_length", "shared_expert_intermediate_size"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"attention.key_length", "head_dim"},
    {"attention.causal", "causal_attention"},
    {"attention.sliding_window", "sliding_window"},
    {"attention.sliding_window_pattern", "sliding_window_pattern"},
    {"vocab_size", "vocab_size"},
    {"context_length", "max_position_embeddings"},
    {"rope.freq_base", "rope_theta"},
    {"shortconv.l_cache", "conv_L_cache"},
    {"attention.kv_lora_rank", "kv_lora_rank"},
    {"attention.q_lora_rank", "q_lora_rank"},
    {"attention.key_length_mla", "qk_head_dim"},
    {"attention.value_length_mla", "v_head_dim"},
    {"rope.dimension_count", "rotary_dim"},
    {"rope.dimension_count", "qk_rope_head_dim"},
    {"leading_dense_block_count", "first_k_dense_replace"},
    {"expert_shared_count", "n_shared_experts"},
    {"expert_count", "num_experts"},
    {"expert_count", "expert_count"},
    {"expert_used_count", "num_experts_per_tok"},
    {"nextn_predict_layers", "num_nextn_predict_layers"},
    {"moe_latent_size", "moe_latent_size"},
};
// Keys of layers with a state, for which one GGUF key has several meanings.
constexpr Key kMambaKeys[] = {{"ssm.state_size", "state_size"},
                              {"ssm.conv_kernel", "conv_kernel"},
                              {"ssm.inner_size", "mamba_d_ssm"},
                              {"ssm.time_step_rank", "time_step_rank"}};
constexpr Key kMamba2Keys[] = {{"ssm.state_size", "state_size"},
                               {"ssm.conv_kernel", "conv_kernel"},
                               {"ssm.inner_size", "mamba_d_ssm"},
                               {"ssm.time_step_rank", "mamba_n_heads"},
                               {"ssm.group_count", "n_groups"}};
constexpr Key kDeltaRuleKeys[] = {{"ssm.state_size", "linear_key_head_dim"},
                                  {"ssm.conv_kernel", "linear_conv_kernel_dim"},
                                  {"ssm.inner_size", "linear_inner_size"},
                                  {"ssm.time_step_rank", "linear_num_value_heads"},
                                  {"ssm.group_count", "linear_num_key_heads"}};

/// An architecture of llama.cpp, with the properties that its tensors do not show (families.hpp).
/// The converter writes matrices as [out, in], so `transposed` has no place here.
struct Architecture {
  std::string_view name;
  Family family;
  std::string_view activation = "silu";
  std::span<const Key> keys = {};  // in addition to the common ones
  // Tokens that state-space layers of transformers work on at a time, by default: no key of GGUF
  // has it.
  int64_t chunk = 0;
};
// Checked by tests/cli/test_gguf_blueprint.py.
constexpr Architecture kArchitectures[] = {
    {"afmoe", {"afmoe", "full-each-4"}},
    {"apertus", {"apertus"}},
    {"arcee", {"arcee"}, "relu2"},
    {"baichuan", {"llama"}},
    {"bailingmoe", {"deepseek_v3"}},
    {"bailingmoe2", {"deepseek_v3"}},
    {"bert", {"bert", "encoder"}, "gelu"},
    {"bitnet", {"bitnet"}, "relu2"},
    {"bloom", {"bloom"}, "gelu"},
    {"chatglm", {"glm"}},
    {"codeshell", {"starcoder2"}, "gelu"},
    {"cohere2", {"cohere2", "full-each-4"}},
    {"cohere2moe", {"cohere2_moe", "full-each-4"}},
    {"command-r", {"cohere"}},
    {"deepseek", {"deepseek_v3"}},
    {"deepseek2", {"deepseek_v3"}},
    {"dots1", {"dots1"}},
    {"dream", {"qwen2", "writes-text"}},
    {"ernie4_5", {"ernie4_5"}},
    {"ernie4_5-moe", {"ernie4_5_moe"}},
    {"eurobert", {"eurobert", "encoder"}},
    {"exaone", {"llama"}},
    {"exaone-moe", {"exaone_moe", "full-each-4"}},
    {"exaone4", {"exaone4", "full-each-4"}},
    {"falcon", {"falcon"}, "gelu"},
    {"falcon-h1", {"falcon_h1"}, "silu", kMamba2Keys, 256},
    {"gemma", {"gemma"}, "gelu"},
    {"gemma-embedding", {"gemma3_text", "encoder full-each-6"}, "gelu"},
    {"gemma2", {"gemma2", "full-each-2"}, "gelu"},
    {"gemma3", {"gemma3_text", "full-each-6"}, "gelu"},
    {"glm4", {"glm4"}},
    {"glm4moe", {"glm4_moe"}},
    {"gpt-oss", {"gpt_oss", "full-each-2"}},
    {"gpt2", {"gpt2"}, "gelu"},
    {"gptj", {"gptj"}, "gelu"},
    {"gptneox", {"gpt_neox"}, "gelu"},
    {"granite", {"granite"}},
    {"granite_swa", {"granite_swa"}},
    {"granitehybrid", {"granitemoehybrid"}, "silu", kMamba2Keys, 256},
    {"granitemoe", {"granitemoe"}},
    {"grok", {"grok"}, "gelu"},
    {"hunyuan-dense", {"hunyuan_v1_dense"}},
    {"hunyuan-moe", {"hunyuan_v1_moe"}},
    {"internlm2", {"llama"}},
    {"jais2", {"jais2"}, "relu2"},
    {"jamba", {"jamba"}, "silu", kMambaKeys},
    {"jina-bert-v3", {"jina_embeddings_v3", "encoder"}, "gelu"},
    {"lfm2", {"lfm2"}},
    {"lfm2moe", {"lfm2_moe"}},
    {"llada", {"llama", "writes-text"}},
    {"llada-moe", {"qwen3_moe", "writes-text"}},
    {"llama", {"llama"}},
    {"llama-embed", {"llama", "encoder"}},
    {"llama4", {"llama4_text", "all-experts shared-experts chunked-each-4"}},
    {"maincoder", {"qwen3"}},
    {"mamba", {"mamba"}, "silu", kMambaKeys},
    {"mamba2", {"mamba2"}, "silu", kMamba2Keys, 256},
    {"mellum", {"mellum"}},
    {"minicpm", {"llama"}},
    {"minicpm3", {"minicpm3"}},
    {"minimax-m2", {"minimax_m2"}},
    {"mistral3", {"ministral3"}},
    {"mistral4", {"mistral4"}},
    {"modern-bert", {"modernbert", "encoder"}, "gelu"},
    {"mpt", {"mpt"}, "gelu"},
    {"nemotron", {"nemotron"}, "relu2"},
    {"nemotron_h", {"nemotron_h"}, "relu2", kMamba2Keys, 128},
    {"nemotron_h_moe", {"nemotron_h"}, "relu2", kMamba2Keys, 128},
    {"nomic-bert", {"nomic_bert", "encoder"}},
    {"olmo", {"olmo"}},
    {"olmo2", {"olmo2"}},
    {"olmoe", {"olmoe"}},
    {"orion", {"llama"}},
    {"paddleocr", {"ernie4_5"}},
    {"pangu-embedded", {"llama"}},
    {"phi2", {"phi"}, "gelu"},
    {"phi3", {"phi3"}},
    {"phimoe", {"phimoe"}},
    {"plamo", {"cohere"}},
    {"qwen", {"qwen2"}},
    {"qwen2", {"qwen2", "sliding-if-said"}},
    {"qwen2moe", {"qwen2_moe", "sliding-if-said"}},
    {"qwen2vl", {"qwen2_vl_text"}},
    {"qwen3", {"qwen3", "sliding-if-said"}},
    {"qwen35", {"qwen3_5_text", "gated-queries"}, "silu", kDeltaRuleKeys},
    {"qwen35moe", {"qwen3_5_moe_text", "gated-queries"}, "silu", kDeltaRuleKeys},
    {"qwen3moe", {"qwen3_moe", "sliding-if-said"}},
    {"qwen3next", {"qwen3_next", "gated-queries"}, "silu", kDeltaRuleKeys},
    {"qwen3vl", {"qwen3_vl_text"}},
    {"qwen3vlmoe", {"qwen3_vl_moe_text"}},
    {"refact", {"llama"}},
    {"rnd1", {"qwen3_moe", "writes-text"}},
    {"seed_oss", {"seed_oss"}},
    {"smollm3", {"smollm3"}},
    {"stablelm", {"stablelm"}},
    {"starcoder", {"gpt_bigcode"}, "gelu"},
    {"starcoder2", {"starcoder2"}, "gelu"},
    {"t5", {"t5", "pair"}},
    {"t5encoder", {"t5", "pair encoder"}},
    {"xverse", {"llama"}},
};

std::optional<tmeter::Metadata> find(const tmeter::Graph& weights, std::string_view key) {
  for (const auto& m : weights.metadata())
    if (m.space() == kSpaceOfGguf && m.key() == key) return m;
  return std::nullopt;
}

bool has_tensor(const tmeter::Graph& weights, std::string_view name) {
  const auto tensors = weights.tensors();
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const tmeter::Tensor& t) { return t.name() == name; });
}

/// Newer files state for each layer whether it has a window; config.json has names for that.
std::vector<std::string> layer_types(const tmeter::Metadata& windows, int64_t layers) {
  const bool held = windows.type() == TMETER_METADATA_BOOL || windows.type() == TMETER_METADATA_INT;
  const int64_t count = held ? windows.size() : 0;
  if (count < layers)
    throw Contradiction("metadata: " + std::string(windows.key()) + " is for " +
                        std::to_string(count) + " of " + std::to_string(layers) + " layers");
  std::vector<std::string> types;
  for (uint32_t i = 0; i < windows.size(); ++i)
    types.push_back(windows.as_int(0, i) != 0 ? "sliding_attention" : "full_attention");
  return types;
}

// Keys of structures that no part of this folder writes: layers that use the keys and values of
// others, heads of two widths, attention to chosen tokens, tables of each layer, other kinds of
// state.
constexpr std::string_view kUnknownKeys[] = {"attention.shared_kv_layers",
                                             "attention.indexer.head_count",
                                             "attention.indexer.top_k",
                                             "attention.key_length_mla_swa",
                                             "attention.kv_lora_rank_swa",
                                             "attention.chunk_size",
                                             "attention.compress_ratios",
                                             "embedding_length_per_layer_input",
                                             "altup.num_inputs",
                                             "wkv.head_size",
                                             "kda.head_dim",
                                             "token_shift_count",
                                             "expert_chunk_feed_forward_length"};
constexpr std::pair<std::string_view, std::string_view> kWidthsOfWindows[] = {
    {"attention.key_length_swa", "attention.key_length"},
    {"attention.value_length_swa", "attention.value_length"}};

bool is_set(const tmeter::Metadata& m) {
  if (m.type() != TMETER_METADATA_INT) return true;
  for (uint32_t i = 0; i < m.size(); ++i)
    if (m.as_int(0, i) != 0) return true;
  return false;
}

/// A lower bound needs a minimum of operators, which these keys leave open.
void refuse_unknown_keys(const tmeter::Graph& weights, const std::string& prefix) {
  for (const auto key : kUnknownKeys)
    if (const auto m = find(weights, prefix + std::string(key)); m && is_set(*m))
      throw UnsupportedStructure("the meaning of " + std::string(m->key()) + " is unknown");
  for (const auto& [own, usual] : kWidthsOfWindows) {
    const auto m = find(weights, prefix + std::string(own)),
               other = find(weights, prefix + std::string(usual));
    if (m && other && m->as_int() != other->as_int())
      throw UnsupportedStructure("layers with a window have heads of another width, " +
                                 std::string(m->key()));
  }
}

/// llama.cpp also requires an array to have one item per layer.
void expect_whole_arrays(const tmeter::Graph& weights, const std::string& prefix, int64_t layers) {
  for (const auto key : {"attention.head_count", "attention.head_count_kv", "feed_forward_length"})
    if (const auto m = find(weights, prefix + key);
        m && m->is_array() && static_cast<int64_t>(m->size()) < layers)
      throw Contradiction("metadata: " + std::string(m->key()) + " is for " +
                          std::to_string(m->size()) + " of " + std::to_string(layers) + " layers");
}

/// For latent attention, files without key_length_mla state the widths of a head like other models.
void set_head_widths(const tmeter::Graph& weights, const std::string& prefix, Settings& settings) {
  const auto keys = find(weights, prefix + "attention.key_length"),
             values = find(weights, prefix + "attention.value_length");
  if (settings.has({"kv_lora_rank"})) {
    if (keys && !settings.has({"qk_head_dim"})) settings.set("qk_head_dim", *keys);
    if (values && !settings.has({"v_head_dim"})) settings.set("v_head_dim", *values);
    const auto hidden = settings.integer(kHidden), heads = settings.integer(kHeads);
    // llama.cpp's default, which MiniCPM 3 relies on.
    if (!settings.has({"v_head_dim"}) && hidden && heads && *heads > 0)
      settings.set("v_head_dim", *hidden / *heads);
    return;
  }
  // In all other attention, values are as wide as keys.
  auto width = settings.integer({"head_dim"});
  const auto hidden = settings.integer(kHidden), heads = settings.integer(kHeads);
  if (!width && hidden && heads && *heads > 0) width = *hidden / *heads;  // llama.cpp's default
  if (values && width && values->as_int(0) != *width)
    throw UnsupportedStructure(std::string(values->key()) + " is not the width of the keys, " +
                               std::to_string(*width));
}

/// Sizes that GGUF implies by others or omits.
void set_state_sizes(const Architecture& architecture, GgufModel& model) {
  auto& settings = model.settings;
  const auto inner = settings.integer({"linear_inner_size"}),
             heads = settings.integer({"linear_num_value_heads"});
  if (inner && heads && *heads > 0) {
    if (*inner % *heads != 0)
      throw Contradiction("metadata: " + settings.statement({"linear_inner_size"}, *inner) +
                          ", not a multiple of " +
                          settings.statement({"linear_num_value_heads"}, *heads));
    settings.set("linear_value_head_dim", *inner / *heads);
  }
  if (architecture.chunk > 0) {
    settings.set("chunk_size", architecture.chunk);
    model.warnings.push_back(
        "the metadata do not state how many tokens a state-space layer takes at a time: " +
        std::to_string(architecture.chunk) + ", the default of transformers' " +
        std::string(architecture.family.type));
  }
}

}  // namespace

GgufModel read_gguf(const tmeter::Graph& weights) {
  const auto named = find(weights, "general.architecture");
  const std::string architecture(named ? named->text() : std::string_view());
  if (architecture.empty()) throw UnsupportedStructure("the metadata have no general.architecture");
  if (const auto type = find(weights, "general.type"); type && type->text() != "model")
    throw UnsupportedStructure("general.type is '" + std::string(type->text()) +
                               "', which has no program of its own");
  const auto* row = std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
                                 [&](const Architecture& a) { return a.name == architecture; });
  const bool is_known = row != std::end(kArchitectures);
  GgufModel model{Settings("metadata"), is_known ? &row->family : nullptr, architecture, {}};
  auto& settings = model.settings;
  const auto prefix = architecture + ".";
  // Early files of mixtures state one width, which is not always that of the experts. Without
  // experts, Granite's shared expert is the MLP.
  const auto shared = find(weights, prefix + "expert_shared_feed_forward_length");
  const bool has_experts(find(weights, prefix + "expert_count"));
  const bool one_width =
      (has_experts || shared) && !find(weights, prefix + "expert_feed_forward_length");
  for (const auto& m : weights.metadata()) {
    if (m.space() != kSpaceOfGguf || !m.key().starts_with(prefix)) continue;
    const auto key = m.key().substr(prefix.size());
    if (key == "feed_forward_length" && one_width) continue;
    for (const auto keys :
         {std::span<const Key>(kKeys), is_known ? row->keys : std::span<const Key>()})
      for (const auto& k : keys)
        if (k.gguf == key) settings.set(k.config, m);
  }
  if (const auto windows = find(weights, prefix + "attention.sliding_window_pattern");
      windows && windows->is_array())
    settings.set("layer_types", layer_types(*windows, settings.integer(kLayers).value_or(1)));
  // Only a table of positions limits the length of a sequence.
  if (!has_tensor(weights, "position_embd.weight")) settings.forget("max_position_embeddings");
  if (shared && !has_experts) settings.set("intermediate_size", *shared);
  refuse_unknown_keys(weights, prefix);
  expect_whole_arrays(weights, prefix, settings.integer(kLayers).value_or(1));
  set_head_widths(weights, prefix, settings);
  if (is_known) set_state_sizes(*row, model);
  settings.set("model_type", {is_known ? std::string(row->family.type) : architecture});
  settings.set("hidden_act", {std::string(is_known ? row->activation : "silu")});
  // The converter writes causal language models under these names, and encoders with this key.
  const auto causal = find(weights, prefix + "attention.causal");
  const bool makes_text =
      has_trait(model.family, "writes-text") ||
      ((!causal || causal->as_int(1) != 0) && !has_trait(model.family, "encoder"));
  settings.set("architectures",
               {architecture + (makes_text ? " (ForCausalLM)" : " (ForFeatureExtraction)")});
  return model;
}

}  // namespace blueprint
