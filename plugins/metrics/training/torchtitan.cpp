#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string>

#include "analyses.hpp"

namespace training {
namespace {

using tmeter::Count;
using tmeter::Graph;
using tmeter::Tensor;

constexpr std::string_view kMetric = "training_flops_per_token";

/// The reason for a missing value.
struct Unknown {
  std::string why;
};

/// config.json; keys in the order of preference.
class Config {
 public:
  using Keys = std::initializer_list<std::string_view>;
  explicit Config(const Graph& graph) : graph_(graph) {}

  std::string_view text(std::string_view key) const {
    const auto fact = graph_.metadata("config.json", key);
    return fact ? fact->text() : std::string_view();
  }
  int64_t number(Keys keys, int64_t fallback) const {
    for (const auto key : keys)
      if (const auto fact = graph_.metadata("config.json", key); fact && !fact->is_array())
        return checked(key, fact->as_int(-1));
    return fallback;
  }
  int64_t number(Keys keys) const {
    const auto n = number(keys, -1);
    if (n < 0) throw Unknown{"config.json lacks " + std::string(*keys.begin())};
    return n;
  }
  std::optional<tmeter::Metadata> list(std::string_view key) const {
    const auto fact = graph_.metadata("config.json", key);
    return fact && fact->is_array() ? fact : std::nullopt;
  }

 private:
  static int64_t checked(std::string_view key, int64_t n) {
    constexpr int64_t kMax = int64_t{1} << 31;
    if (n < 0 || n > kMax) throw Unknown{std::string(key) + " of config.json is out of range"};
    return n;
  }
  const Graph& graph_;
};

struct Attention {
  int64_t heads = 0, query_key = 0, value = 0;

  Count flops(int64_t attended) const {
    return Count(heads) * (Count(query_key) + Count(value)) * attended * 6;
  }
};

Attention attention_of(const Config& config) {
  Attention a;
  a.heads = config.number({"num_attention_heads"});
  const auto rope = config.number({"qk_rope_head_dim"}, 0);
  const auto nope = config.number({"qk_nope_head_dim"}, 0);
  if (a.heads == 0) throw Unknown{"num_attention_heads of config.json is 0"};
  a.query_key = nope > 0 ? nope + rope : config.number({"head_dim"}, 0);
  if (a.query_key == 0) a.query_key = config.number({"hidden_size"}) / a.heads;
  a.value = config.number({"v_head_dim"}, a.query_key);
  return a;
}

/// Every layer attends to the whole sequence.
Count full_attention(const Config& config, int64_t sequence, size_t predictors) {
  if (predictors > 0) throw Unknown{"there is no rule for layers that predict further tokens"};
  return attention_of(config).flops(sequence) * config.number({"num_hidden_layers"});
}

/// The number of tokens of a layer that become one; 1: no compression, only a window.
int64_t compression_of(const Config& config, uint32_t layer) {
  if (const auto ratios = config.list("compress_ratios"); ratios && layer < ratios->size())
    return std::max<int64_t>(ratios->as_int(0, layer), 1);
  const auto types = config.list("layer_types");
  if (!types || layer >= types->size())
    throw Unknown{"config.json has neither compress_ratios nor layer_types for layer " +
                  std::to_string(layer)};
  if (types->text(layer) == "sliding_attention") return 1;
  const auto rate = config.number({"compress_rates." + std::string(types->text(layer))}, 0);
  if (rate == 0)
    throw Unknown{"config.json lacks compress_rates for " + std::string(types->text(layer))};
  return rate;
}

/// A query attends to a window of tokens and to all tokens before it in compressed form. Where four
/// tokens become one, an indexer chooses among the compressed ones. Layers that predict further
/// tokens have only the window.
Count compressed_attention(const Config& config, int64_t sequence, size_t predictors) {
  constexpr int64_t kIndexed = 4;
  const auto a = attention_of(config);
  const auto window = std::min(sequence, config.number({"sliding_window"}));
  const auto layers = config.number({"num_hidden_layers"});
  Count sum = a.flops(window) * static_cast<int64_t>(predictors);
  for (int64_t i = 0; i < std::min<int64_t>(layers, 1 << 16); ++i) {
    sum += a.flops(window);
    const auto ratio = compression_of(config, static_cast<uint32_t>(i));
    if (ratio == 1) continue;
    auto compressed = sequence / ratio;
    if (ratio == kIndexed) {
      sum += Count(config.number({"index_n_heads"})) * config.number({"index_head_dim"}) *
             compressed * 6;
      compressed = std::min(compressed, config.number({"index_topk"}));
    }
    sum += a.flops(compressed);
  }
  return sum;
}

struct Rule {
  std::string_view model_type;
  Count (*attention)(const Config&, int64_t sequence, size_t predictors);
};

constexpr std::array<Rule, 5> kRules{{{"llama", full_attention},
                                      {"qwen3", full_attention},
                                      {"qwen3_moe", full_attention},
                                      {"deepseek_v3", full_attention},
                                      {"deepseek_v4", compressed_attention}}};

bool has_part(std::string_view path, std::string_view part) {
  for (size_t at = 0; at <= path.size();) {
    const auto dot = std::min(path.find('.', at), path.size());
    if (path.substr(at, dot - at) == part) return true;
    at = dot + 1;
  }
  return false;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Parameters by their use for a token.
struct Parameters {
  Count whole = 0, experts = 0, tables = 0, head = 0, carried = 0;
  std::set<std::string> predictors;  // paths of layers that predict further tokens
};

/// The number of the layer of a path; -1: it is in none.
int64_t layer_of(std::string_view path) {
  constexpr std::string_view kLayers = "layers.";
  const auto at = path.find(kLayers);
  if (at == path.npos) return -1;
  const auto number = path.substr(at + kLayers.size());
  uint32_t n = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), n);
  return read.ec == std::errc() ? n : -1;
}

/// "mtp.0", or the layer beyond those that are counted; empty for other parameters.
std::string predictor_of(std::string_view path, int64_t layers) {
  if (path.starts_with("mtp.")) return std::string(path.substr(0, path.find('.', 4)));
  const auto n = layer_of(path);
  return n >= layers ? "layers." + std::to_string(n) : std::string();
}

Parameters parameters_of(const Graph& graph, int64_t layers) {
  Parameters out;
  for (const Tensor& t : graph.tensors()) {
    if (!t.is_parameter() || t.is_tied()) continue;
    const auto n = t.numel();
    const auto path = t.owner().path();
    const auto owner = t.owner().name();
    const auto predictor = predictor_of(path, layers);
    if (!predictor.empty()) out.predictors.insert(predictor);
    out.whole += n;
    if (has_part(path, "experts"))
      out.experts += n;
    else if (is_one_of(owner, {"embed", "embed_tokens", "tok_embeddings"}))
      out.tables += n;
    else if (is_one_of(owner, {"head", "lm_head", "output"}))
      out.head += n;
    else if (owner == "h_proj" && !predictor.empty())
      out.carried += n;
  }
  return out;
}

Count active_parameters(const Parameters& p, const Config& config) {
  Count active = p.whole - p.experts;
  if (p.head > Count(0)) active = active - p.tables;  // else the table is the head
  if (p.experts == Count(0)) return active;
  const auto all = config.number({"n_routed_experts", "num_local_experts", "num_experts"});
  const auto chosen = config.number({"num_experts_per_tok"});
  if (all == 0 || chosen > all || p.experts.value() % all != 0)
    throw Unknown{"the experts of the weights differ from those of config.json"};
  return active + p.experts / all * chosen;
}

Count flops_per_token(const Graph& graph, const Rule& rule, int64_t sequence) {
  const Config config(graph);
  const auto p = parameters_of(graph, config.number({"num_hidden_layers"}));
  const auto predictors = static_cast<int64_t>(p.predictors.size());
  // Each further token has its own product with the head, and hyper-connections carry several
  // hidden states through h_proj.
  const auto streams = config.number({"hc_mult"}, 1);
  const auto active = active_parameters(p, config) + p.head * predictors +
                      p.carried * std::max<int64_t>(streams - 1, 0);
  return active * 6 + rule.attention(config, sequence, p.predictors.size());
}

/// Tokens of a sequence: as given, else of the first integer input; 0: neither.
int64_t sequence_of(const Graph& graph, const tmeter::Call& call) {
  if (const auto given = call.option_int("sequence"); given > 0) return given;
  for (const auto& input : graph.inputs())
    if (input.is_tensor() && input.dtype().kind() == tmeter::DTypeClass::kInt &&
        !input.shape().empty())
      return input.shape().back();
  return 0;
}

}  // namespace

void find_flops_per_token(const Graph& graph, tmeter::Call& call) {
  const auto type = Config(graph).text("model_type");
  const auto* rule = std::ranges::find(kRules, type, &Rule::model_type);
  if (rule == kRules.end()) return;
  try {
    const auto sequence = sequence_of(graph, call);
    if (sequence == 0) throw Unknown{"--set training.sequence=TOKENS is not given"};
    call.emit(kMetric, TMETER_AXIS_MODEL, 0, flops_per_token(graph, *rule, sequence));
  } catch (const Unknown& unknown) {
    call.set_provenance(kMetric, TMETER_PROVENANCE_UNAVAILABLE, unknown.why);
    call.emit(kMetric, TMETER_AXIS_MODEL, 0, tmeter::Cell::unavailable());
  }
}

}  // namespace training
