#include "metrics.hpp"

#include <deque>

namespace serving {
namespace {

using plugins::ModelMetric;

constexpr ModelMetric kFixed[] = {
    {"serving_bytes", "serving", "B", TMETER_UNIT_BYTE,
     "weights + caches + states, by the rule of serving.engine; compute buffers of the engine are "
     "not included"},
    {"serving_weight_bytes", "weights", "B", TMETER_UNIT_BYTE,
     "parameters as stored, each storage once: `param_bytes`"},
    {"serving_cache_bytes", "cache", "B", TMETER_UNIT_BYTE,
     "keys and values of all layers for serving.sequences sequences of serving.context tokens"},
    {"serving_state_bytes", "states", "B", TMETER_UNIT_BYTE,
     "recurrent and convolution states of all layers for serving.sequences sequences"},
    {"serving_compute_bytes", "compute buffer", "B", TMETER_UNIT_BYTE,
     "llama.cpp with flash attention: 4 · batch · (vocabulary + width), the logits of a whole "
     "batch and the rows before them; not in serving_bytes"},
    {"serving_token_bytes", "cache per token", "B", TMETER_UNIT_BYTE,
     "keys and values of one token in all layers that keep the whole context, by element type"},
    {"serving_max_context", "longest context", "", TMETER_UNIT_COUNT,
     "largest serving.context with which serving_bytes is within serving.memory",
     TMETER_BETTER_HIGHER},
    {"serving_max_sequences", "most sequences", "", TMETER_UNIT_COUNT,
     "largest serving.sequences with which serving_bytes is within serving.memory",
     TMETER_BETTER_HIGHER},
    {"serving_prefill_time", "first token", "s", TMETER_UNIT_SECOND,
     "lower bound of the time for all prompts, serving.context tokens each: max(MACs / peak.mac, "
     "(weights + caches) / peak.dram); attention in full"},
    {"serving_step_time", "decode step", "s", TMETER_UNIT_SECOND,
     "lower bound of the time for one more token of every sequence after serving.context tokens: "
     "max(MACs / peak.mac, (weights read + caches) / peak.dram); of E experts, E · (1 − (1 − "
     "k/E)^sequences) are read"},
    {"serving_rate", "decode rate", "token/s", TMETER_UNIT_OTHER,
     "upper bound: serving.sequences / serving_step_time", TMETER_BETTER_HIGHER},
    {"serving_prefill_macs", "prefill MACs", "MAC", TMETER_UNIT_OP,
     "MACs of all prompt tokens, attention in full", TMETER_BETTER_LOWER, TMETER_METRIC_DETAIL},
    {"serving_step_macs", "step MACs", "MAC", TMETER_UNIT_OP,
     "MACs of one more token of every sequence; of experts, those that a token chooses",
     TMETER_BETTER_LOWER, TMETER_METRIC_DETAIL},
    {"serving_step_bytes", "step reads", "B", TMETER_UNIT_BYTE,
     "weights that one more token of every sequence reads, and all caches", TMETER_BETTER_LOWER,
     TMETER_METRIC_DETAIL},
    {"serving_accepted_tokens", "tokens per round", "", TMETER_UNIT_OTHER,
     "speculative decoding: (1 − α^(γ+1)) / (1 − α) tokens of a sequence for each run of the "
     "model, with α = serving.acceptance and γ = serving.draft-tokens (Leviathan, Kalman, Matias, "
     "ICML 2023, eq. 1)",
     TMETER_BETTER_HIGHER},
    {"serving_speculative_rate", "speculative rate", "token/s", TMETER_UNIT_OTHER,
     "upper bound: serving.sequences · serving_accepted_tokens / (a step of γ + 1 tokens of every "
     "sequence + γ · serving.draft-cost · serving_step_time)",
     TMETER_BETTER_HIGHER},
};

struct Expected {
  std::string_view id, title, unit;
  int32_t kind, better;
  std::array<std::string_view, 3> conventions;  // indexed by machine::kBandEnds
};

constexpr std::string_view kShorter =
    "one of ten measured runs of vLLM and TensorRT-LLM is shorter";
constexpr std::string_view kLonger = "one of ten measured runs of vLLM and TensorRT-LLM is longer";

constexpr Expected kBands[] = {
    {kExpected[0],
     "first token",
     "s",
     TMETER_UNIT_SECOND,
     TMETER_BETTER_LOWER,
     {"time of the prefill: its products by curves fitted on published measurements "
      "(docs/predictions.md), one curve for all, and the sums over serving.devices",
      kShorter, kLonger}},
    {kExpected[1],
     "decode step",
     "s",
     TMETER_UNIT_SECOND,
     TMETER_BETTER_LOWER,
     {"time of one more token of every sequence: its products by curves fitted on published "
      "measurements (docs/predictions.md), one curve for all, and the sums over serving.devices",
      kShorter, kLonger}},
    {kExpected[2],
     "decode rate",
     "token/s",
     TMETER_UNIT_OTHER,
     TMETER_BETTER_HIGHER,
     {"serving.sequences / serving_step_expected", "serving.sequences / serving_step_expected_high",
      "serving.sequences / serving_step_expected_low"}},
    {kSpeculative,
     "speculative rate",
     "token/s",
     TMETER_UNIT_OTHER,
     TMETER_BETTER_HIGHER,
     {"serving_speculative_rate by expected times",
      "serving_speculative_rate by the longest times of the band",
      "serving_speculative_rate by the shortest times of the band"}},
};

constexpr ModelMetric kQuantized[] = {
    {"serving_bytes", "serving", "B", TMETER_UNIT_BYTE,
     "serving_bytes with all parameters in 8 or 4 bits; scales and layers that keep their type are "
     "not included"},
    {"serving_rate", "decode rate", "token/s", TMETER_UNIT_OTHER,
     "serving_rate with weights of 8 or 4 bits, multiplied in the element type of the model",
     TMETER_BETTER_HIGHER},
    {"serving_rate_expected", "decode rate expected", "token/s", TMETER_UNIT_OTHER,
     "serving_rate_expected with weights of 8 or 4 bits, multiplied in the element type of the "
     "model; the work of unpacking is not included",
     TMETER_BETTER_HIGHER},
};

std::vector<ModelMetric> all_metrics() {
  static std::deque<std::string> texts;  // a registrar borrows them
  const auto text = [](std::string s) -> std::string_view {
    return texts.emplace_back(std::move(s));
  };
  std::vector<ModelMetric> out(std::begin(kFixed), std::end(kFixed));
  for (const auto& b : kBands)
    for (size_t i = 0; i < machine::kBandEnds.size(); ++i) {
      const auto& end = machine::kBandEnds[i];
      out.push_back({text(std::string(b.id).append(end.suffix)),
                     text(std::string(b.title).append(" ").append(end.title)), b.unit, b.kind,
                     b.conventions[i], b.better});
    }
  for (const auto bits : kWeightBits)
    for (auto m : kQuantized) {
      m.id = text(of_bits(m.id, bits));
      m.title = text(std::string(m.title) + ", " + std::to_string(bits) + "-bit weights");
      out.push_back(m);
    }
  return out;
}

}  // namespace

const std::vector<ModelMetric>& metrics() {
  static const auto all = all_metrics();
  return all;
}

std::string of_bits(std::string_view id, int64_t bits) {
  return std::string(id) + "_" + std::to_string(bits) + "bit";
}

std::vector<std::string_view> ids_with_ends(std::span<const std::string_view> ids) {
  std::vector<std::string_view> out;
  for (const auto& m : metrics())
    for (const auto id : ids)
      for (const auto& end : machine::kBandEnds)
        if (m.id == std::string(id).append(end.suffix)) out.push_back(m.id);
  return out;
}

void emit_band(const tmeter::Call& call, std::string_view id, const machine::Expected& value) {
  for (const auto& end : machine::kBandEnds)
    plugins::emit_total(call, std::string(id).append(end.suffix), tmeter::Cell(value.*end.value));
}

}  // namespace serving
