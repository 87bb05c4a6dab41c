#include "plugins/common/serving/model_length.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace serving {
namespace {

using tmeter::Graph;
using tmeter::Metadata;

constexpr std::string_view kConfig = "config.json", kGguf = "gguf";
constexpr int64_t kMaxLength = int64_t{1} << 40;  // a larger number is not a length

/// A model with an image tower has its language model's settings one level deeper.
constexpr std::array<std::string_view, 2> kLevels{"text_config.", ""};
/// The first of these keys that exists counts.
constexpr std::array<std::string_view, 5> kLengths{"max_position_embeddings", "n_positions",
                                                   "n_ctx", "max_seq_len", "seq_length"};
/// The smallest value of these keys counts, except that `model_max_length` takes precedence:
/// _get_and_verify_max_len of vLLM's vllm/config/model.py.
constexpr std::array<std::string_view, 9> kVllmLengths{"max_position_embeddings",
                                                       "n_positions",
                                                       "max_seq_len",
                                                       "seq_length",
                                                       "model_max_length",
                                                       "max_target_positions",
                                                       "max_sequence_length",
                                                       "max_seq_length",
                                                       "seq_len"};
constexpr std::string_view kBeforeAll = "model_max_length";
/// transformers 5 has one scaling for each type of layer, with equal factors.
constexpr std::array<std::string_view, 3> kScalings{"rope_scaling.", "rope_parameters.",
                                                    "rope_parameters.full_attention."};

std::string joined(std::string_view a, std::string_view b, std::string_view c = "") {
  return std::string(a).append(b).append(c);
}

int64_t length_of(const std::optional<Metadata>& fact) {
  const auto n = fact ? fact->as_int() : 0;
  return n > 0 && n < kMaxLength ? n : 0;
}

/// The scaling of positions, from which vLLM derives its longest context.
struct RopeScaling {
  double factor = 1;
  int64_t original = 0;  // the original length; 0: the stated length
};

std::optional<RopeScaling> rope_scaling_of(const Graph& graph, std::string_view level,
                                           std::string_view scaling) {
  const auto fact = [&](std::string_view key) {
    return graph.metadata(kConfig, joined(level, scaling, key));
  };
  const auto newer = fact("rope_type"), older = fact("type");
  const auto type = newer ? newer->text() : older ? older->text() : std::string_view();
  // Gemma 3 states the length after scaling.
  const auto model = graph.metadata(kConfig, joined(level, "model_type"));
  if (model && model->text().find("gemma3") != std::string_view::npos) return std::nullopt;
  const auto factor = fact("factor");
  if (!factor || !(factor->as_float() > 1) || factor->as_float() > 1e6) return std::nullopt;
  if (type == "yarn")
    return RopeScaling{factor->as_float(), length_of(fact("original_max_position_embeddings"))};
  const bool is_stated = type.empty() || type == "su" || type == "longrope" || type == "llama3";
  return is_stated ? std::nullopt : std::optional(RopeScaling{factor->as_float(), 0});
}

/// The length that one level of config.json states, without its scaling.
std::optional<ModelLength> stated_at(const Graph& graph, std::string_view level, bool by_vllm) {
  std::optional<ModelLength> out;
  const auto keys = by_vllm ? std::span<const std::string_view>(kVllmLengths) : kLengths;
  for (const auto key : keys) {
    const auto stated = length_of(graph.metadata(kConfig, joined(level, key)));
    if (stated == 0) continue;
    if (!out || stated < out->tokens) out = ModelLength{stated, joined(key, " of config.json")};
    if (!by_vllm) break;
  }
  const auto own = length_of(graph.metadata(kConfig, joined(level, kBeforeAll)));
  return by_vllm && own > 0 ? ModelLength{own, joined(kBeforeAll, " of config.json")} : out;
}

std::optional<ModelLength> of_config(const Graph& graph, bool by_vllm) {
  for (const auto level : kLevels) {
    auto out = stated_at(graph, level, by_vllm);
    if (!out) continue;
    for (const auto scaling : kScalings) {
      const auto rope = rope_scaling_of(graph, level, scaling);
      if (!rope) continue;
      const auto base = rope->original > 0 ? rope->original : out->tokens;
      const auto longer = static_cast<int64_t>(static_cast<double>(base) * rope->factor);
      if (longer <= out->tokens) continue;
      out->tokens = longer;
      out->source += joined(" and ", scaling.substr(0, scaling.size() - 1));
    }
    return out;
  }
  return std::nullopt;
}

std::optional<ModelLength> of_gguf(const Graph& graph) {
  const auto architecture = graph.metadata(kGguf, "general.architecture");
  if (!architecture) return std::nullopt;
  const auto key = joined(architecture->text(), ".context_length");
  const auto stated = length_of(graph.metadata(kGguf, key));
  return stated > 0 ? std::optional(ModelLength{stated, "context_length of the GGUF file"})
                    : std::nullopt;
}

}  // namespace

std::optional<ModelLength> model_length(const Graph& graph, std::string_view engine) {
  const auto found = of_config(graph, engine == "vllm");
  return found ? found : of_gguf(graph);
}

}  // namespace serving
