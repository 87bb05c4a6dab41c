// The modules of tensors, architecture by architecture. Each row names its source: the class of
// transformers that has the module, or gguf-py, whose tensor_mapping.py has the name. Rows without
// such a source are missing.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugins/loaders/gguf/module_names.hpp"

namespace gguf {
namespace {

/// A tensor's name without block and ending, and the module that it belongs to.
struct Expected {
  std::string tensor, module;
};

/// Block 12 of an architecture; `layers` is the path of the layers.
void expect_layer(const std::string& architecture, const std::string& layers,
                  const std::vector<Expected>& rows, const std::string& stack = "blk.") {
  for (const auto& row : rows)
    EXPECT_EQ(module_of(stack + "12." + row.tensor + ".weight", architecture),
              layers + ".12." + row.module)
        << architecture << ": " << row.tensor;
}
void expect_model(const std::string& architecture, const std::vector<Expected>& rows) {
  for (const auto& row : rows)
    EXPECT_EQ(module_of(row.tensor + ".weight", architecture), row.module)
        << architecture << ": " << row.tensor;
}

TEST(GgufModules, OfLlamaAreThoseOfItsClasses) {
  expect_model("llama", {
                            {"token_embd", "model.embed_tokens"},  // LlamaModel
                            {"output_norm", "model.norm"},         // LlamaModel
                            {"output", "lm_head"},                 // LlamaForCausalLM
                            {"rope_freqs", "model.rotary_emb"},    // LlamaModel
                        });
  expect_layer("llama", "model.layers",
               {
                   {"attn_norm", "input_layernorm"},           // LlamaDecoderLayer
                   {"attn_q", "self_attn.q_proj"},             // LlamaAttention
                   {"attn_k", "self_attn.k_proj"},             // LlamaAttention
                   {"attn_v", "self_attn.v_proj"},             // LlamaAttention
                   {"attn_output", "self_attn.o_proj"},        // LlamaAttention
                   {"attn_rot_embd", "self_attn.rotary_emb"},  // gguf-py
                   {"ffn_norm", "post_attention_layernorm"},   // LlamaDecoderLayer
                   {"ffn_gate", "mlp.gate_proj"},              // LlamaMLP
                   {"ffn_up", "mlp.up_proj"},                  // LlamaMLP
                   {"ffn_down", "mlp.down_proj"},              // LlamaMLP
               });
}

TEST(GgufModules, OfFurtherDecodersAreThoseOfTheirClasses) {
  expect_model("phi3", {
                           {"rope_factors_long", "model.rotary_emb"},   // Phi3Model
                           {"rope_factors_short", "model.rotary_emb"},  // Phi3Model
                       });
  expect_model("unheard-of", {
                                 {"position_embd", "model.embed_positions"},  // gguf-py
                             });
  expect_layer("qwen3", "model.layers",
               {
                   {"attn_q_norm", "self_attn.q_norm"},  // Qwen3Attention
                   {"attn_k_norm", "self_attn.k_norm"},  // Qwen3Attention
               });
  expect_layer("olmo2", "model.layers",
               {
                   {"post_attention_norm", "post_attention_layernorm"},  // Olmo2DecoderLayer
                   {"post_ffw_norm", "post_feedforward_layernorm"},      // Olmo2DecoderLayer
               });
  expect_layer("bitnet", "model.layers",
               {
                   {"attn_sub_norm", "self_attn.attn_sub_norm"},  // BitNetAttention
                   {"ffn_sub_norm", "mlp.ffn_sub_norm"},          // BitNetMLP
               });
  expect_layer("granitehybrid", "model.layers",
               {
                   {"ssm_in", "mamba.in_proj"},    // GraniteMoeHybridMambaLayer
                   {"ssm_norm", "mamba.norm"},     // GraniteMoeHybridMambaLayer
                   {"ssm_out", "mamba.out_proj"},  // GraniteMoeHybridMambaLayer
               });
}

TEST(GgufModules, OfDeepseekAreThoseOfItsClasses) {
  expect_layer("deepseek2", "model.layers",
               {
                   {"attn_q_a", "self_attn.q_a_proj"},                  // DeepseekV3Attention
                   {"attn_q_a_norm", "self_attn.q_a_layernorm"},        // DeepseekV3Attention
                   {"attn_q_b", "self_attn.q_b_proj"},                  // DeepseekV3Attention
                   {"attn_kv_a_mqa", "self_attn.kv_a_proj_with_mqa"},   // DeepseekV3Attention
                   {"attn_kv_a_norm", "self_attn.kv_a_layernorm"},      // DeepseekV3Attention
                   {"attn_kv_b", "self_attn.kv_b_proj"},                // DeepseekV3Attention
                   {"attn_k_b", "self_attn.k_b_proj"},                  // gguf-py
                   {"attn_v_b", "self_attn.v_b_proj"},                  // gguf-py
                   {"ffn_gate_inp", "mlp.gate"},                        // DeepseekV3MoE
                   {"exp_probs_b", "mlp.gate"},                         // DeepseekV3TopkRouter
                   {"ffn_gate_exps", "mlp.experts.gate_proj"},          // gguf-py
                   {"ffn_up_exps", "mlp.experts.up_proj"},              // gguf-py
                   {"ffn_down_exps", "mlp.experts.down_proj"},          // gguf-py
                   {"ffn_gate_up_exps", "mlp.experts.gate_up_proj"},    // gguf-py
                   {"ffn_gate_shexp", "mlp.shared_experts.gate_proj"},  // DeepseekV3MoE
                   {"ffn_up_shexp", "mlp.shared_experts.up_proj"},      // DeepseekV3MoE
                   {"ffn_down_shexp", "mlp.shared_experts.down_proj"},  // DeepseekV3MoE
               });
}

TEST(GgufModules, OfTheNextTokenPredictionAreThoseOfTheConverter) {
  expect_layer("glm4moe", "model.layers",
               {
                   {"nextn.eh_proj", "eh_proj"},                    // gguf-py
                   {"nextn.embed_tokens", "embed_tokens"},          // gguf-py
                   {"nextn.enorm", "enorm"},                        // gguf-py
                   {"nextn.hnorm", "hnorm"},                        // gguf-py
                   {"nextn.shared_head_head", "shared_head.head"},  // gguf-py
                   {"nextn.shared_head_norm", "shared_head.norm"},  // gguf-py
               });
}

TEST(GgufModules, OfGemmaAreThoseOfItsClasses) {
  for (const char* architecture : {"gemma2", "gemma3", "gemma3n", "gemma4", "gemma-embedding"}) {
    expect_layer(architecture, "model.layers",
                 {
                     {"attn_norm", "input_layernorm"},                     // Gemma2DecoderLayer
                     {"post_attention_norm", "post_attention_layernorm"},  // Gemma2DecoderLayer
                     {"ffn_norm", "pre_feedforward_layernorm"},            // Gemma2DecoderLayer
                     {"post_ffw_norm", "post_feedforward_layernorm"},      // Gemma2DecoderLayer
                 });
  }
  expect_layer("gemma", "model.layers",
               {
                   {"ffn_norm", "post_attention_layernorm"},  // GemmaDecoderLayer
               });
}

TEST(GgufModules, OfGlmAndPhiAreThoseOfTheirClasses) {
  expect_layer("glm4", "model.layers",
               {
                   {"post_attention_norm", "post_self_attn_layernorm"},  // Glm4DecoderLayer
                   {"ffn_norm", "post_attention_layernorm"},             // Glm4DecoderLayer
                   {"post_ffw_norm", "post_mlp_layernorm"},              // Glm4DecoderLayer
                   {"ffn_up", "mlp.gate_up_proj"},                       // Glm4MLP
                   {"ffn_down", "mlp.down_proj"},                        // Glm4MLP
               });
  expect_layer("phi3", "model.layers",
               {
                   {"attn_qkv", "self_attn.qkv_proj"},  // Phi3Attention
                   {"ffn_up", "mlp.gate_up_proj"},      // Phi3MLP
                   {"ffn_down", "mlp.down_proj"},       // Phi3MLP
               });
  expect_layer("chatglm", "model.layers",
               {
                   {"ffn_up", "mlp.gate_up_proj"},  // GlmMLP
               });
  expect_model("phi2", {
                           {"output_norm", "model.final_layernorm"},  // PhiModel
                           {"token_embd", "model.embed_tokens"},      // PhiModel
                       });
  expect_layer("phi2", "model.layers",
               {
                   {"attn_norm", "input_layernorm"},    // PhiDecoderLayer
                   {"attn_output", "self_attn.dense"},  // PhiAttention
                   {"ffn_up", "mlp.fc1"},               // PhiMLP
                   {"ffn_down", "mlp.fc2"},             // PhiMLP
               });
}

TEST(GgufModules, OfMixturesAreThoseOfTheirClasses) {
  expect_layer("afmoe", "model.layers",
               {
                   {"attn_gate", "self_attn.gate_proj"},                 // AfmoeAttention
                   {"post_attention_norm", "post_attention_layernorm"},  // AfmoeDecoderLayer
                   {"ffn_norm", "pre_mlp_layernorm"},                    // AfmoeDecoderLayer
                   {"post_ffw_norm", "post_mlp_layernorm"},              // AfmoeDecoderLayer
                   {"exp_probs_b", "mlp"},                               // AfmoeSparseMoeBlock
               });
  expect_layer("ernie4_5-moe", "model.layers",
               {
                   {"exp_probs_b", "mlp.moe_statics"},  // gguf-py
               });
  expect_layer("gpt-oss", "model.layers",
               {
                   {"attn_sinks", "self_attn"},                          // GptOssAttention
                   {"post_attention_norm", "post_attention_layernorm"},  // GptOssDecoderLayer
                   {"ffn_gate_inp", "mlp.router"},                       // GptOssMLP
               });
  expect_layer("qwen2moe", "model.layers",
               {
                   {"ffn_gate_inp", "mlp.gate"},                       // Qwen2MoeSparseMoeBlock
                   {"ffn_gate_inp_shexp", "mlp.shared_expert_gate"},   // Qwen2MoeSparseMoeBlock
                   {"ffn_gate_shexp", "mlp.shared_expert.gate_proj"},  // Qwen2MoeSparseMoeBlock
                   {"ffn_up_shexp", "mlp.shared_expert.up_proj"},      // Qwen2MoeSparseMoeBlock
                   {"ffn_down_shexp", "mlp.shared_expert.down_proj"},  // Qwen2MoeSparseMoeBlock
               });
}

TEST(GgufModules, OfQwenWithLinearAttentionAreThoseOfItsClasses) {
  expect_layer("qwen3next", "model.layers",
               {
                   {"ssm_in", "linear_attn.in_proj_qkvz"},  // Qwen3NextGatedDeltaNet
                   {"ssm_ba", "linear_attn.in_proj_ba"},    // Qwen3NextGatedDeltaNet
               });
  for (const char* architecture : {"qwen3next", "qwen35", "qwen35moe"}) {
    expect_layer(architecture, "model.layers",
                 {
                     {"ssm_conv1d", "linear_attn.conv1d"},               // Qwen3NextGatedDeltaNet
                     {"ssm_a", "linear_attn"},                           // Qwen3NextGatedDeltaNet
                     {"ssm_norm", "linear_attn.norm"},                   // Qwen3NextGatedDeltaNet
                     {"ssm_out", "linear_attn.out_proj"},                // Qwen3NextGatedDeltaNet
                     {"attn_norm", "input_layernorm"},                   // Qwen3NextDecoderLayer
                     {"ffn_gate_shexp", "mlp.shared_expert.gate_proj"},  // Qwen3NextSparseMoeBlock
                     {"ffn_up_shexp", "mlp.shared_expert.up_proj"},      // Qwen3NextSparseMoeBlock
                     {"ffn_down_shexp", "mlp.shared_expert.down_proj"},  // Qwen3NextSparseMoeBlock
                 });
  }
  expect_layer("qwen35", "model.layers",
               {
                   {"attn_qkv", "linear_attn.in_proj_qkv"},  // Qwen3_5GatedDeltaNet
                   {"attn_gate", "linear_attn.in_proj_z"},   // Qwen3_5GatedDeltaNet
                   {"ssm_alpha", "linear_attn.in_proj_a"},   // Qwen3_5GatedDeltaNet
                   {"ssm_beta", "linear_attn.in_proj_b"},    // Qwen3_5GatedDeltaNet
               });
}

TEST(GgufModules, OfLfm2AreThoseOfItsClasses) {
  for (const char* architecture : {"lfm2", "lfm2moe"}) {
    expect_model(architecture, {
                                   {"token_embd", "model.embed_tokens"},         // Lfm2Model
                                   {"token_embd_norm", "model.embedding_norm"},  // Lfm2Model
                               });
    expect_layer(architecture, "model.layers",
                 {
                     {"shortconv.conv", "conv.conv"},          // Lfm2ShortConv
                     {"shortconv.in_proj", "conv.in_proj"},    // Lfm2ShortConv
                     {"shortconv.out_proj", "conv.out_proj"},  // Lfm2ShortConv
                     {"attn_q", "self_attn.q_proj"},           // Lfm2Attention
                 });
  }
}

TEST(GgufModules, OfJambaAndFalconH1AreThoseOfTheirClasses) {
  for (const char* architecture : {"jamba", "falcon-h1"}) {
    expect_model(architecture,
                 {
                     {"output_norm", "model.final_layernorm"},  // JambaModel, FalconH1Model
                 });
    expect_layer(
        architecture, "model.layers",
        {
            {"attn_norm", "input_layernorm"},        // JambaMambaDecoderLayer, FalconH1DecoderLayer
            {"ffn_norm", "pre_ff_layernorm"},        // JambaMambaDecoderLayer, FalconH1DecoderLayer
            {"ffn_gate", "feed_forward.gate_proj"},  // JambaMLP, FalconH1MLP
            {"ffn_up", "feed_forward.up_proj"},      // JambaMLP, FalconH1MLP
            {"ffn_down", "feed_forward.down_proj"},  // JambaMLP, FalconH1MLP
            {"ssm_in", "mamba.in_proj"},             // JambaMambaMixer, FalconH1Mixer
            {"ssm_conv1d", "mamba.conv1d"},          // JambaMambaMixer, FalconH1Mixer
            {"ssm_a", "mamba"},                      // JambaMambaMixer, FalconH1Mixer
            {"ssm_d", "mamba"},                      // JambaMambaMixer, FalconH1Mixer
            {"ssm_out", "mamba.out_proj"},           // JambaMambaMixer, FalconH1Mixer
        });
  }
  expect_layer("jamba", "model.layers",
               {
                   {"ffn_gate_inp", "feed_forward.router"},              // JambaSparseMoeBlock
                   {"ffn_gate_exps", "feed_forward.experts.gate_proj"},  // gguf-py
                   {"ffn_up_exps", "feed_forward.experts.up_proj"},      // gguf-py
                   {"ffn_down_exps", "feed_forward.experts.down_proj"},  // gguf-py
                   {"ssm_x", "mamba.x_proj"},                            // JambaMambaMixer
                   {"ssm_dt", "mamba.dt_proj"},                          // JambaMambaMixer
                   {"ssm_dt_norm", "mamba.dt_layernorm"},                // JambaMambaMixer
                   {"ssm_b_norm", "mamba.b_layernorm"},                  // JambaMambaMixer
                   {"ssm_c_norm", "mamba.c_layernorm"},                  // JambaMambaMixer
               });
}

TEST(GgufModules, OfMambaAreThoseOfItsClasses) {
  for (const char* architecture : {"mamba", "mamba2"}) {
    expect_model(architecture, {
                                   {"token_embd", "backbone.embeddings"},  // MambaModel
                                   {"output_norm", "backbone.norm_f"},     // MambaModel
                                   {"output", "lm_head"},                  // MambaForCausalLM
                               });
    expect_layer(architecture, "backbone.layers",
                 {
                     {"attn_norm", "norm"},           // MambaBlock
                     {"ssm_in", "mixer.in_proj"},     // MambaMixer
                     {"ssm_conv1d", "mixer.conv1d"},  // MambaMixer
                     {"ssm_a", "mixer"},              // MambaMixer
                     {"ssm_d", "mixer"},              // MambaMixer
                     {"ssm_out", "mixer.out_proj"},   // MambaMixer
                 });
  }
  expect_layer("mamba", "backbone.layers",
               {
                   {"ssm_x", "mixer.x_proj"},    // MambaMixer
                   {"ssm_dt", "mixer.dt_proj"},  // MambaMixer
               });
  expect_layer("mamba2", "backbone.layers",
               {
                   {"ssm_norm", "mixer.norm"},  // Mamba2Mixer
               });
}

TEST(GgufModules, OfNemotronHAreThoseOfItsClasses) {
  for (const char* architecture : {"nemotron_h", "nemotron_h_moe"}) {
    expect_model(architecture, {
                                   {"token_embd", "model.embeddings"},  // NemotronHModel
                                   {"output_norm", "model.norm_f"},     // NemotronHModel
                                   {"output", "lm_head"},               // NemotronHForCausalLM
                               });
    expect_layer(architecture, "model.layers",
                 {
                     {"attn_norm", "norm"},                                 // NemotronHBlock
                     {"attn_q", "mixer.q_proj"},                            // NemotronHAttention
                     {"attn_k", "mixer.k_proj"},                            // NemotronHAttention
                     {"attn_v", "mixer.v_proj"},                            // NemotronHAttention
                     {"attn_output", "mixer.o_proj"},                       // NemotronHAttention
                     {"ssm_in", "mixer.in_proj"},                           // NemotronHMamba2Mixer
                     {"ssm_conv1d", "mixer.conv1d"},                        // NemotronHMamba2Mixer
                     {"ssm_a", "mixer"},                                    // NemotronHMamba2Mixer
                     {"ssm_d", "mixer"},                                    // NemotronHMamba2Mixer
                     {"ssm_norm", "mixer.norm"},                            // NemotronHMamba2Mixer
                     {"ssm_out", "mixer.out_proj"},                         // NemotronHMamba2Mixer
                     {"ffn_up", "mixer.up_proj"},                           // NemotronHMLP
                     {"ffn_down", "mixer.down_proj"},                       // NemotronHMLP
                     {"ffn_gate_inp", "mixer.gate"},                        // NemotronHMoE
                     {"exp_probs_b", "mixer.gate"},                         // gguf-py
                     {"ffn_up_exps", "mixer.experts.up_proj"},              // NemotronHExperts
                     {"ffn_down_exps", "mixer.experts.down_proj"},          // NemotronHExperts
                     {"ffn_latent_down", "mixer.fc1_latent_proj"},          // NemotronHMoE
                     {"ffn_latent_up", "mixer.fc2_latent_proj"},            // NemotronHMoE
                     {"ffn_up_shexp", "mixer.shared_experts.up_proj"},      // NemotronHMoE
                     {"ffn_down_shexp", "mixer.shared_experts.down_proj"},  // NemotronHMoE
                 });
  }
}

TEST(GgufModules, OfGpt2AndStarcoderAreThoseOfTheirClasses) {
  for (const char* architecture : {"gpt2", "starcoder"}) {
    expect_model(architecture, {
                                   {"token_embd", "transformer.wte"},     // GPT2Model
                                   {"position_embd", "transformer.wpe"},  // GPT2Model
                                   {"output_norm", "transformer.ln_f"},   // GPT2Model
                                   {"output", "lm_head"},                 // GPT2LMHeadModel
                               });
    expect_layer(architecture, "transformer.h",
                 {
                     {"attn_norm", "ln_1"},           // GPT2Block
                     {"attn_qkv", "attn.c_attn"},     // GPT2Attention
                     {"attn_output", "attn.c_proj"},  // GPT2Attention
                     {"ffn_norm", "ln_2"},            // GPT2Block
                     {"ffn_up", "mlp.c_fc"},          // GPT2MLP
                     {"ffn_down", "mlp.c_proj"},      // GPT2MLP
                 });
  }
  expect_layer("starcoder2", "model.layers",
               {
                   {"attn_q", "self_attn.q_proj"},  // Starcoder2Attention
                   {"ffn_up", "mlp.c_fc"},          // Starcoder2MLP
                   {"ffn_down", "mlp.c_proj"},      // Starcoder2MLP
               });
}

TEST(GgufModules, OfGptNeoXAreThoseOfItsClasses) {
  expect_model("gptneox", {
                              {"token_embd", "gpt_neox.embed_in"},           // GPTNeoXModel
                              {"output_norm", "gpt_neox.final_layer_norm"},  // GPTNeoXModel
                              {"output", "embed_out"},                       // gguf-py
                          });
  expect_layer("gptneox", "gpt_neox.layers",
               {
                   {"attn_norm", "input_layernorm"},           // GPTNeoXLayer
                   {"attn_qkv", "attention.query_key_value"},  // GPTNeoXAttention
                   {"attn_output", "attention.dense"},         // GPTNeoXAttention
                   {"ffn_norm", "post_attention_layernorm"},   // GPTNeoXLayer
                   {"ffn_up", "mlp.dense_h_to_4h"},            // GPTNeoXMLP
                   {"ffn_down", "mlp.dense_4h_to_h"},          // GPTNeoXMLP
               });
}

TEST(GgufModules, OfFalconAndBloomAreThoseOfTheirClasses) {
  for (const char* architecture : {"falcon", "bloom"}) {
    expect_model(architecture,
                 {
                     {"token_embd", "transformer.word_embeddings"},  // FalconModel, BloomModel
                     {"output_norm", "transformer.ln_f"},            // FalconModel, BloomModel
                     {"output", "lm_head"},  // FalconForCausalLM, BloomForCausalLM
                 });
    expect_layer(
        architecture, "transformer.h",
        {
            {"attn_norm", "input_layernorm"},                // FalconDecoderLayer, BloomBlock
            {"attn_qkv", "self_attention.query_key_value"},  // FalconAttention, BloomAttention
            {"attn_output", "self_attention.dense"},         // FalconAttention, BloomAttention
            {"ffn_up", "mlp.dense_h_to_4h"},                 // FalconMLP, BloomMLP
            {"ffn_down", "mlp.dense_4h_to_h"},               // FalconMLP, BloomMLP
        });
  }
  expect_layer("falcon", "transformer.h",
               {
                   {"attn_norm_2", "ln_attn"},  // FalconDecoderLayer
               });
  expect_model("bloom",
               {
                   {"token_embd_norm", "transformer.word_embeddings_layernorm"},  // BloomModel
               });
  expect_layer("bloom", "transformer.h",
               {
                   {"ffn_norm", "post_attention_layernorm"},  // BloomBlock
               });
}

TEST(GgufModules, OfBertAreThoseOfItsClasses) {
  expect_model("bert", {
                           {"token_embd", "embeddings.word_embeddings"},         // BertEmbeddings
                           {"position_embd", "embeddings.position_embeddings"},  // BertEmbeddings
                           {"token_types", "embeddings.token_type_embeddings"},  // BertEmbeddings
                           {"token_embd_norm", "embeddings.LayerNorm"},          // BertEmbeddings
                       });
  expect_layer("bert", "encoder.layer",
               {
                   {"attn_q", "attention.self.query"},                  // BertSelfAttention
                   {"attn_k", "attention.self.key"},                    // BertSelfAttention
                   {"attn_v", "attention.self.value"},                  // BertSelfAttention
                   {"attn_output", "attention.output.dense"},           // BertSelfOutput
                   {"attn_output_norm", "attention.output.LayerNorm"},  // BertSelfOutput
                   {"ffn_up", "intermediate.dense"},                    // BertIntermediate
                   {"ffn_down", "output.dense"},                        // BertOutput
                   {"layer_output_norm", "output.LayerNorm"},           // BertOutput
               });
}

TEST(GgufModules, OfFurtherBertsAreThoseOfTheirOwnCode) {
  for (const char* architecture : {"nomic-bert", "jina-bert-v3"}) {
    expect_model(architecture, {
                                   {"token_embd", "embeddings.word_embeddings"},         // gguf-py
                                   {"token_types", "embeddings.token_type_embeddings"},  // gguf-py
                                   {"token_embd_norm", "emb_ln"},                        // gguf-py
                               });
    expect_layer(architecture, "encoder.layers",
                 {
                     {"attn_output_norm", "norm1"},   // gguf-py
                     {"ffn_down", "mlp.fc2"},         // gguf-py
                     {"layer_output_norm", "norm2"},  // gguf-py
                 });
  }
  expect_layer("nomic-bert", "encoder.layers",
               {
                   {"attn_qkv", "attn.Wqkv"},         // gguf-py
                   {"attn_output", "attn.out_proj"},  // gguf-py
                   {"ffn_gate", "mlp.fc12"},          // gguf-py
                   {"ffn_up", "mlp.fc11"},            // gguf-py
               });
  expect_layer("jina-bert-v3", "encoder.layers",
               {
                   {"attn_qkv", "mixer.Wqkv"},         // gguf-py
                   {"attn_output", "mixer.out_proj"},  // gguf-py
                   {"ffn_up", "mlp.fc1"},              // gguf-py
               });
  expect_layer("modern-bert", "model.layers",
               {
                   {"attn_norm", "attn_norm"},  // ModernBertEncoderLayer
                   {"attn_qkv", "attn.Wqkv"},   // ModernBertAttention
                   {"attn_output", "attn.Wo"},  // ModernBertAttention
                   {"ffn_norm", "mlp_norm"},    // ModernBertEncoderLayer
               });
}

TEST(GgufModules, OfT5AreThoseOfItsTwoStacks) {
  for (const char* architecture : {"t5", "t5encoder"}) {
    expect_model(architecture, {
                                   {"token_embd", "shared"},                         // T5Model
                                   {"enc.output_norm", "encoder.final_layer_norm"},  // T5Stack
                                   {"output", "lm_head"},  // T5ForConditionalGeneration
                               });
    expect_layer(
        architecture, "encoder.block",
        {
            {"attn_norm", "layer.0.layer_norm"},    // T5LayerSelfAttention
            {"attn_q", "layer.0.SelfAttention.q"},  // T5Attention
            {"attn_k", "layer.0.SelfAttention.k"},  // T5Attention
            {"attn_v", "layer.0.SelfAttention.v"},  // T5Attention
            {"attn_o", "layer.0.SelfAttention.o"},  // T5Attention
            {"attn_rel_b", "layer.0.SelfAttention.relative_attention_bias"},  // T5Attention
            {"ffn_norm", "layer.1.layer_norm"},                               // T5LayerFF
            {"ffn_gate", "layer.1.DenseReluDense.wi_0"},  // T5DenseGatedActDense
            {"ffn_up", "layer.1.DenseReluDense.wi_1"},    // T5DenseGatedActDense
            {"ffn_down", "layer.1.DenseReluDense.wo"},    // T5DenseGatedActDense
        },
        "enc.blk.");
  }
  expect_model("t5", {
                         {"dec.output_norm", "decoder.final_layer_norm"},  // T5Stack
                     });
  expect_layer(
      "t5", "decoder.block",
      {
          {"attn_norm", "layer.0.layer_norm"},                              // T5LayerSelfAttention
          {"attn_q", "layer.0.SelfAttention.q"},                            // T5Attention
          {"attn_k", "layer.0.SelfAttention.k"},                            // T5Attention
          {"attn_v", "layer.0.SelfAttention.v"},                            // T5Attention
          {"attn_o", "layer.0.SelfAttention.o"},                            // T5Attention
          {"attn_rel_b", "layer.0.SelfAttention.relative_attention_bias"},  // T5Attention
          {"cross_attn_norm", "layer.1.layer_norm"},                        // T5LayerCrossAttention
          {"cross_attn_q", "layer.1.EncDecAttention.q"},                    // T5Attention
          {"cross_attn_k", "layer.1.EncDecAttention.k"},                    // T5Attention
          {"cross_attn_v", "layer.1.EncDecAttention.v"},                    // T5Attention
          {"cross_attn_o", "layer.1.EncDecAttention.o"},                    // T5Attention
          {"cross_attn_rel_b", "layer.1.EncDecAttention.relative_attention_bias"},  // gguf-py
          {"ffn_norm", "layer.2.layer_norm"},                                       // T5LayerFF
          {"ffn_gate", "layer.2.DenseReluDense.wi_0"},  // T5DenseGatedActDense
          {"ffn_up", "layer.2.DenseReluDense.wi_1"},    // T5DenseGatedActDense
          {"ffn_down", "layer.2.DenseReluDense.wo"},    // T5DenseGatedActDense
      },
      "dec.blk.");
}

}  // namespace
}  // namespace gguf
