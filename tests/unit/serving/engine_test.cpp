// Bytes of caches against logs and reports of the engines.
#include "plugins/common/serving/engine.hpp"

#include <gtest/gtest.h>

namespace serving {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20, kGiB = int64_t{1} << 30;

LayerCache attention(int64_t heads, int64_t width) {
  LayerCache l;
  l.heads = heads, l.key_width = width, l.value_width = width;
  return l;
}

LayerCache sliding(int64_t heads, int64_t width, int64_t window) {
  auto l = attention(heads, width);
  l.kind = CacheKind::kSliding, l.window = window;
  return l;
}

LayerCache latent(int64_t width) {
  LayerCache l;
  l.kind = CacheKind::kLatent, l.heads = 1, l.key_width = width;
  return l;
}

std::vector<LayerCache> times(size_t n, const LayerCache& layer) { return {n, layer}; }

int64_t bytes(std::string_view name, const std::vector<LayerCache>& layers, int64_t context,
              std::string_view type = "f16", int64_t sequences = 1) {
  const auto out = engine(name)->bytes(layers, {context, sequences, 0, *cache_type(type)});
  EXPECT_EQ(out.unavailable, "");
  return out.all().value();
}

// DeepSeek-V3: 61 layers, a latent vector of 512 + 64.
std::vector<LayerCache> deepseek_v3() { return times(61, latent(576)); }

// gpt-oss-20b: every second of 24 layers has a window of 128; 8 heads of 64.
std::vector<LayerCache> gpt_oss_20b() {
  auto layers = times(12, attention(8, 64));
  const auto local = times(12, sliding(8, 64, 128));
  layers.insert(layers.end(), local.begin(), local.end());
  return layers;
}

// 61 · 576 · 2 bytes for each token.
TEST(Engine, DeepSeekV3KeepsItsLatentVector) {
  EXPECT_EQ(bytes("vllm", deepseek_v3(), 16), 16 * 70'272);
  EXPECT_EQ(bytes("llama.cpp", deepseek_v3(), 256), 256 * 70'272);
}

// ikawrakow/ik_llama.cpp#259 logs 1,166.6 MiB for q8_0 at 32,768; unsloth#4757 10.72 GiB for f16 at
// 163,840.
TEST(Engine, DeepSeekV3AsItsUsersSawIt) {
  EXPECT_NEAR(static_cast<double>(bytes("llama.cpp", deepseek_v3(), 32'768, "q8_0")) / kMiB, 1166.6,
              0.05);
  EXPECT_NEAR(static_cast<double>(bytes("llama.cpp", deepseek_v3(), 163'840)) / kGiB, 10.72, 0.005);
}

// gguf-parser-go#32: 3.00 GiB for the twelve full layers at 131,072, and 768 cells for the others:
// 18 MiB.
TEST(Engine, GptOssWithTheWindowOfLlama) {
  EXPECT_EQ(bytes("llama.cpp", gpt_oss_20b(), 131'072), 3 * kGiB + 18 * kMiB);
}

// hf-mem#70: vLLM takes 12.00 GiB for 32 sequences of 8,192. A step of prefill is as long as the
// context, so the window saves nothing; each layer with a window has one page more.
TEST(Engine, GptOssWithTheWindowOfVllm) {
  EXPECT_EQ(bytes("vllm", gpt_oss_20b(), 8'192, "bf16", 32), 12 * kGiB + 32 * 12 * 16 * 2'048);
}

// lmstudio-bug-tracker#1862: 16 of the 64 layers of Qwen3.6-27B keep 4,096 bytes a token: 16,384
// MiB at 262,144.
TEST(Engine, LayersWithoutACacheTakeNothing) {
  EXPECT_EQ(bytes("llama.cpp", times(16, attention(4, 256)), 262'144), 16'384 * kMiB);
}

double gib(int64_t n) { return static_cast<double>(n) / kGiB; }

// unsloth#4757, at the training length: Kimi-K2.5 17.16 GiB at 262,144 (61 layers), GLM-5 17.18 GiB
// at 202,752 (78 layers and the one that predicts a further token).
TEST(Engine, OtherLatentVectors) {
  EXPECT_NEAR(gib(bytes("llama.cpp", times(61, latent(576)), 262'144)), 17.16, 0.005);
  EXPECT_NEAR(gib(bytes("llama.cpp", times(79, latent(576)), 202'752)), 17.18, 0.005);
}

// unsloth#4757: Qwen3-0.6B 4.38 GiB at 40,960. Its heads are wider than hidden / heads: 28 layers,
// 8 heads of 128.
TEST(Engine, Qwen3WithItsOwnHeadWidth) {
  EXPECT_NEAR(gib(bytes("llama.cpp", times(28, attention(8, 128)), 40'960)), 4.38, 0.006);
}

// unsloth#4757: Gemma-3-27B 10.41 GiB at 131,072. Of 62 layers every sixth is full; 16 heads of
// 128. llama.cpp keeps the batch beside the window, 1,536 cells.
TEST(Engine, Gemma3WithItsWindow) {
  auto layers = times(10, attention(16, 128));
  const auto local = times(52, sliding(16, 128, 1'024));
  layers.insert(layers.end(), local.begin(), local.end());
  EXPECT_NEAR(gib(bytes("transformers", layers, 131'072)), 10.41, 0.005);
  EXPECT_EQ(bytes("llama.cpp", layers, 131'072), (10 * 131'072 + 52 * 1'536) * int64_t{8'192});
}

// turboquant-mlx#52: Nemotron-H-120B keeps 8.0 KB a token in 8 of its 88 layers; 2 heads of 128.
TEST(Engine, NemotronHKeepsFewLayers) {
  EXPECT_EQ(bytes("vllm", times(8, attention(2, 128)), 16, "bf16"), 16 * 8'192);
}

LayerCache state(int64_t conv, int64_t recurrent) {
  LayerCache l;
  l.kind = CacheKind::kState, l.conv_elements = conv, l.state_elements = recurrent;
  return l;
}

int64_t state_bytes(const std::vector<LayerCache>& layers, int64_t sequences = 1) {
  return engine("llama.cpp")->bytes(layers, {256, sequences, 0, *cache_type("f16")}).states.value();
}

// ggml-org/llama.cpp#22673 logs for Qwen3.6-27B R 5.62 MiB and S 144.00 MiB, lmstudio#1862 598.5
// MiB for 4 sequences. 48 of 64 layers: a convolution of 4 over 16 + 16 heads of keys and 48 of
// values, 128 wide, and 48 states of 128 × 128.
TEST(Engine, Qwen36AsItsUsersSawItsStates) {
  const auto conv = 3 * (2 * 16 + 48) * 128, recurrent = 48 * 128 * 128;
  EXPECT_EQ(state_bytes(times(48, state(conv, 0))), 5.625 * kMiB);
  EXPECT_EQ(state_bytes(times(48, state(0, recurrent))), 144 * kMiB);
  EXPECT_EQ(state_bytes(times(48, state(conv, recurrent)), 4), 598.5 * kMiB);
}

// JamePeng/llama-cpp-python#78 logs R 2.25 MiB and S 48.00 MiB for a Qwen3.5 of 32 layers, 24 of
// them recurrent, with 32 heads of values.
TEST(Engine, ASmallerQwen35) {
  EXPECT_EQ(state_bytes(times(24, state(3 * (2 * 16 + 32) * 128, 0))), 2.25 * kMiB);
  EXPECT_EQ(state_bytes(times(24, state(0, 32 * 128 * 128))), 48 * kMiB);
}

// ggml-org/llama.cpp#5328: a sequence of Mamba 2.8B takes 23.75 MiB. 64 layers of 5,120 channels, a
// convolution of 4, 16 states.
TEST(Engine, MambaKeepsNoTokens) {
  EXPECT_EQ(state_bytes(times(64, state(3 * 5'120, 16 * 5'120))), 23.75 * kMiB);
}

// Table 1 of Jamba (Lieber et al., arXiv:2403.19887): 256K tokens in 16 bits take 128 GB of Llama-2
// 7B, 32 GB of Mistral 7B and of Mixtral 8x7B, 4 GB of Jamba, 4 of whose 32 layers attend.
TEST(Engine, TheTableOfJamba) {
  constexpr int64_t kTokens = 256 << 10;
  EXPECT_EQ(bytes("transformers", times(32, attention(32, 128)), kTokens), 128 * kGiB);
  EXPECT_EQ(bytes("transformers", times(32, attention(8, 128)), kTokens), 32 * kGiB);
  EXPECT_EQ(bytes("transformers", times(4, attention(8, 128)), kTokens), 4 * kGiB);
}

// PagedAttention (Kwon et al., SOSP 2023, section 3): a token of OPT-13B takes 800 KB; 40 layers of
// 5,120.
TEST(Engine, Opt13bOfPagedAttention) {
  EXPECT_EQ(bytes("vllm", times(40, attention(40, 128)), 16), 16 * 800 * 1'024);
}

// hf-mem#61: vLLM logs 983,195 B a token for gemma-4-31B while no layer is beyond its window; 60
// layers of 16 heads, 256 wide.
TEST(Engine, Gemma4BeforeItsWindow) {
  auto layers = times(10, attention(16, 256));
  const auto local = times(50, sliding(16, 256, 1'024));
  layers.insert(layers.end(), local.begin(), local.end());
  EXPECT_NEAR(static_cast<double>(bytes("transformers", layers, 1'000, "bf16")) / 1'000, 983'195,
              200);
}

TEST(Engine, LlamaPadsTheContextTo256) {
  EXPECT_EQ(bytes("llama.cpp", {attention(1, 64)}, 1), 256 * 256);
  EXPECT_EQ(bytes("llama.cpp", {attention(1, 64)}, 257), 512 * 256);
}

TEST(Engine, TransformersKeepsTheWindowLessOne) {
  EXPECT_EQ(bytes("transformers", {sliding(1, 64, 128)}, 1'000), 127 * 256);
  EXPECT_EQ(bytes("transformers", {sliding(1, 64, 128)}, 100), 100 * 256);
}

TEST(Engine, SharedLayersTakeNothing) {
  auto shared = attention(8, 128);
  shared.kind = CacheKind::kShared;
  for (const auto name : {"llama.cpp", "vllm", "transformers"})
    EXPECT_EQ(bytes(name, {shared}, 4'096), 0);
}

// llama.cpp keeps states in float32 for any type of keys and values: (3 - 1) · 2,048 of an LFM2
// layer.
TEST(Engine, StatesDoNotGrowWithTheContext) {
  LayerCache state;
  state.kind = CacheKind::kState, state.conv_elements = 4'096;
  EXPECT_EQ(bytes("llama.cpp", {state}, 1, "q8_0"), 4 * 4'096);
  EXPECT_EQ(bytes("llama.cpp", {state}, 100'000, "q8_0", 3), 3 * 4 * 4'096);
}

TEST(Engine, TransformersHasNoCacheOfBlocks) {
  const Load load{1, 1, 0, *cache_type("q8_0")};
  EXPECT_NE(engine("transformers")->bytes({attention(1, 64)}, load).unavailable, "");
}

TEST(Engine, UnknownNames) {
  EXPECT_EQ(engine("exllama"), nullptr);
  EXPECT_FALSE(cache_type("q9").has_value());
}

}  // namespace
}  // namespace serving
