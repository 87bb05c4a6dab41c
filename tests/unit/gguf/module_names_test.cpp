// The modules of tensors, compared with the names from which gguf's converter makes them
// (fixtures/gguf/names.json); names that are in no table, and their parts. The tables are in
// module_tables_test.cpp.
#include "plugins/loaders/gguf/module_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace gguf {
namespace {

nlohmann::json converter_names() {
  return nlohmann::json::parse(std::ifstream(std::string(FIXTURES) + "/names.json"));
}

/// Modules of transformers itself, where the converter's table names parameters or other code's
/// modules.
const std::set<std::string> kElsewhere{"self_attn",
                                       "linear_attn",
                                       "mamba",
                                       "mixer",
                                       "mlp",
                                       "mlp.gate",
                                       "mlp.moe_statics",
                                       "mlp.ffn_sub_norm",
                                       "rotary_emb",
                                       "mixer.gate",
                                       "mixer.experts.up_proj",
                                       "mixer.experts.down_proj",
                                       "mlp.experts.gate_up_proj",
                                       "self_attn.attn_sub_norm",
                                       "self_attn.qkv_proj"};

/// "layers.0.mixer.norm" of "backbone.layers.0.mixer.norm": transformers calls the trunk "model".
std::string in_its_layer(const std::string& name) {
  const auto layers = name.find("layers.");
  return layers == std::string::npos ? name : name.substr(layers);
}

TEST(GgufModuleNames, EqualThoseOfTheConverter) {
  size_t checked = 0;
  const auto recorded = converter_names();
  for (const auto& [architecture, tensors] : recorded["architectures"].items())
    for (const std::string tensor : tensors) {
      const auto& names = recorded["modules"][tensor];
      const auto module = module_of(tensor + ".weight", architecture);
      const bool mapped =
          module != "model.layers.0." + tensor.substr(tensor.find_last_of('.') + 1) &&
          module != tensor;
      if (!mapped) continue;
      const auto all = names.get<std::vector<std::string>>();
      const bool known =
          std::any_of(all.begin(), all.end(),
                      [&](const std::string& name) {
                        return module == name || module.ends_with("." + in_its_layer(name));
                      }) ||
          std::any_of(kElsewhere.begin(), kElsewhere.end(),
                      [&](const std::string& e) { return module.ends_with("." + e); });
      EXPECT_TRUE(known) << architecture << ": " << tensor << " → " << module << " " << names;
      ++checked;
    }
  EXPECT_GT(checked, 300u);
}

TEST(GgufModuleNames, OfATensorWithoutARowAreUnchanged) {
  EXPECT_EQ(module_of("blk.3.new_part.weight", "llama"), "model.layers.3.new_part");
  EXPECT_EQ(module_of("blk.3.nextn.eh_proj.weight", "glm4"), "model.layers.3.eh_proj");
  EXPECT_EQ(module_of("blk.3.scalar", "llama"), "model.layers.3");
  EXPECT_EQ(module_of("v.blk.0.attn_q.weight", "clip"), "v.blk.0.attn_q");
  EXPECT_EQ(module_of("mm.0.bias", "clip"), "mm.0");
  EXPECT_EQ(module_of("blk", ""), "");
  EXPECT_EQ(module_of("blk..attn_q.weight", ""), "blk..attn_q");
  EXPECT_EQ(module_of("blk.x.attn_q.weight", ""), "blk.x.attn_q");
}

TEST(GgufModuleNames, ExpertsAndAdapters) {
  EXPECT_EQ(module_of("blk.1.ffn_down.7.weight", "llama"),
            "model.layers.1.mlp.experts.7.down_proj");
  EXPECT_EQ(module_of("blk.1.ffn_down_exps.weight", "llama"),
            "model.layers.1.mlp.experts.down_proj");
  EXPECT_EQ(module_of("blk.1.attn_q.weight.lora_a", "llama"), "model.layers.1.self_attn.q_proj");
  EXPECT_EQ(module_of("blk.1.attn_q.bias", "qwen2"), "model.layers.1.self_attn.q_proj");
}

TEST(GgufModuleNames, DifferWhereArchitecturesDo) {
  EXPECT_EQ(module_of("blk.0.ffn_norm.weight", "llama"), "model.layers.0.post_attention_layernorm");
  EXPECT_EQ(module_of("blk.0.ffn_norm.weight", "gemma3"),
            "model.layers.0.pre_feedforward_layernorm");
  EXPECT_EQ(module_of("output.weight", "gptneox"), "embed_out");
  EXPECT_EQ(module_of("blk.0.attn_q.weight", "bert"), "encoder.layer.0.attention.self.query");
  EXPECT_EQ(module_of("blk.0.attn_q.weight", "glm"),
            module_of("blk.0.attn_q.weight", "unheard-of"));
}

TEST(GgufModules, OfAStackWithoutARowKeepTheTensorsName) {
  EXPECT_EQ(module_of("enc.blk.0.attn_output.weight", "t5"), "encoder.block.0.attn_output");
  EXPECT_EQ(module_of("dec.blk.0.new_part.weight", "t5"), "decoder.block.0.new_part");
  EXPECT_EQ(module_of("blk.3.a.b.weight", "llama"), "model.layers.3.a.b");
  EXPECT_EQ(module_of("scalar", "llama"), "");
}

/// The words of general.architecture are whole: no part of another one's name counts.
TEST(GgufModules, OfAnArchitectureWithPartOfAnotherNameAreTheCommonOnes) {
  for (const char* architecture :
       {"", "bert-v2", "ert", "jina-bert", "falcon-h", "h1", "qwen35m", "next", "moe", "gpt", "lfm",
        "qwen3", "nemotron", "t5enc", "ma", "gemma", "embedding", "glm4moe"}) {
    EXPECT_EQ(module_of("blk.0.attn_norm.weight", architecture), "model.layers.0.input_layernorm")
        << architecture;
    EXPECT_EQ(module_of("token_embd.weight", architecture), "model.embed_tokens") << architecture;
    EXPECT_EQ(module_of("output_norm.weight", architecture), "model.norm") << architecture;
  }
}

/// `.scale` and `.input_scale` are those of NVFP4, `lora_a` and `lora_b` those of adapters. State
/// space models have `ssm_a` and `ssm_d` without an ending (llama.cpp, llama-model.cpp).
TEST(GgufModules, OfEveryEndingAreTheSame) {
  for (const char* ending :
       {"", ".weight", ".bias", ".scale", ".input_scale", ".weight.lora_a", ".weight.lora_b"}) {
    EXPECT_EQ(module_of(std::string("blk.0.attn_q") + ending, "llama"),
              "model.layers.0.self_attn.q_proj")
        << ending;
    EXPECT_EQ(module_of(std::string("output") + ending, "llama"), "lm_head") << ending;
    EXPECT_EQ(module_of(std::string("blk.0.ssm_a") + ending, "mamba"), "backbone.layers.0.mixer")
        << ending;
  }
  EXPECT_EQ(module_of("blk.0.attn_q.other", "llama"), "model.layers.0.attn_q");
}

/// Mixtral of 2023: one tensor per expert, "blk.%d.ffn_gate.%d" (llama.cpp, llama-arch.cpp).
TEST(GgufModules, OfSingleExpertsHaveTheirNumbers) {
  EXPECT_EQ(module_of("blk.1.ffn_gate.0.weight", "llama"),
            "model.layers.1.mlp.experts.0.gate_proj");
  EXPECT_EQ(module_of("blk.1.ffn_up.10.weight", "llama"), "model.layers.1.mlp.experts.10.up_proj");
  EXPECT_EQ(module_of("blk.1.ffn_down.7.weight", "llama"),
            "model.layers.1.mlp.experts.7.down_proj");
  EXPECT_EQ(module_of("blk.1.ffn_gate.x.weight", "llama"), "model.layers.1.ffn_gate.x");
  EXPECT_EQ(module_of("blk.1.ffn_gate.7x.weight", "llama"), "model.layers.1.ffn_gate.7x");
  EXPECT_EQ(module_of("blk.1.ffn_left.7.weight", "llama"), "model.layers.1.ffn_left.7");
}

TEST(GgufLayers, AreNumberedInTheNamesOfTensors) {
  EXPECT_EQ(layer_number("blk.3.attn_q.weight"), "3");
  EXPECT_EQ(layer_number("blk.0123456789.attn_q.weight"), "0123456789");
  EXPECT_EQ(layer_number("enc.blk.10.attn_q.weight"), "10");
  EXPECT_EQ(layer_number("dec.blk.7.cross_attn_q.weight"), "7");
  EXPECT_EQ(layer_number("blk.3."), "3");
  for (const char* name :
       {"", "output.weight", "blk", "blk.", "blk.3", "blk..attn_q", "blk.x.attn_q", "blk.3x.attn_q",
        "blk.-1.attn_q", "v.blk.3.attn_q", "block.3.attn_q", "enc.3.attn_q", "dec.blk"})
    EXPECT_EQ(layer_number(name), "") << name;
}

}  // namespace
}  // namespace gguf
