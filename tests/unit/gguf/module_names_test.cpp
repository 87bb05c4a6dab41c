// The modules of tensors, compared with the names from which gguf's converter makes them
// (fixtures/gguf/names.json).
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

}  // namespace
}  // namespace gguf
