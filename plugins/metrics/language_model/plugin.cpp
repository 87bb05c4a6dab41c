// language-model: the cost of a decoder language model per token – work, cache, active parameters.
// Reports nothing for other models.
#include <algorithm>
#include <map>
#include <tmeter/cpp/units.hpp>

#include "plugins/common/decoder/cost.hpp"
#include "plugins/common/decoder/experts.hpp"
#include "plugins/common/model_metrics.hpp"
#include "plugins/common/wording.hpp"

namespace {

using plugins::bytes_text;
using plugins::Cost;
using plugins::Decoder;
using plugins::emit_total;
using plugins::Router;
using tmeter::Call;
using tmeter::Cell;
using tmeter::Count;
using tmeter::Finding;
using tmeter::Graph;

constexpr plugins::ModelMetric kMetrics[] = {
    {"tokens", "tokens", "", TMETER_UNIT_COUNT, "tokens of one inference: batch × sequence length"},
    {"macs_per_token", "MACs per token", "MAC", TMETER_UNIT_OP,
     "`macs` of the model divided by its tokens: the prefill, attention in full"},
    {"decode_macs", "decode MACs", "MAC", TMETER_UNIT_OP,
     "MACs of one more token of one sequence, with a context as long as the sequence: products "
     "once, attention of one query over all keys"},
    {"decode_read_bytes", "decode read", "B", TMETER_UNIT_BYTE,
     "lower bound of the bytes that one decoded token reads: parameters that are multiplied (only "
     "those of chosen experts), the key/value cache and the states of its sequence"},
    {"kv_bytes_per_token", "KV cache per token", "B", TMETER_UNIT_BYTE,
     "keys and values of all layers for one token: 2 × layers × key/value heads × width × bytes, "
     "before heads are repeated for groups; an encoder is left out"},
    {"kv_cache_bytes", "KV cache", "B", TMETER_UNIT_BYTE,
     "the key/value cache of all sequences of the batch at the recorded length"},
    {"state_bytes", "states", "B", TMETER_UNIT_BYTE,
     "states of layers without keys and values, for all sequences of the batch and any length: "
     "recurrent states in float32, the last inputs of convolutions in the type of the model"},
    {"active_params", "active params", "", TMETER_UNIT_COUNT,
     "parameters that one token uses: all except the experts that its router does not choose"},
};

std::string number_text(Count n) {
  return tmeter::scaled(static_cast<double>(n.value()), TMETER_UNIT_OP, "").text();
}

Cell quotient(Count a, Count b) {
  if (a / b * b == a) return a / b;
  return static_cast<double>(a.value()) / static_cast<double>(b.value());
}

/// "through 12 attentions, 6 of them to an encoder"
std::string attentions_text(const Decoder& d) {
  const auto crosses = std::count_if(d.attentions.begin(), d.attentions.end(),
                                     [](const auto& a) { return a.is_cross(); });
  auto text = std::to_string(d.attentions.size()) +
              (crosses > 0 ? " attentions, " + std::to_string(crosses) + " of them to an encoder"
                           : " causal attentions");
  if (d.states.empty()) return text;
  const auto states = std::to_string(d.states.size()) + " layers with a state";
  return d.attentions.empty() ? states : text + " and " + states;
}

void report_model(const Decoder& d, const Cost& cost, const Call& call) {
  emit_total(call, "tokens", d.tokens());
  emit_total(call, "macs_per_token",
             cost.is_complete ? quotient(cost.all, d.tokens()) : Cell::unsupported());
  Finding f;
  f.rule = "language-model";
  f.text = "a decoder language model: " + number_text(d.tokens()) + " tokens (" +
           std::to_string(d.batch) + " × " + std::to_string(d.length) + ") through " +
           attentions_text(d);
  f.evidence = "token ids looked up by " + plugins::place(d.embedding);
  if (!d.attentions.empty())
    f.evidence += ", attention from " + plugins::place(d.attentions.front().node) + " to " +
                  plugins::place(d.attentions.back().node);
  call.add(f.about(d.embedding));
}

/// "15 layers grouped × 2048 elements per token; 15 layers grouped × 2048 elements per token in a
/// window of 128, float32"
std::string stated_evidence(const Decoder& d) {
  std::map<std::string, size_t> layers;
  for (const auto& a : d.attentions)
    ++layers[(a.kind.empty() ? "other" : std::string(a.kind)) + " × " +
             std::to_string(a.cache_width) + " elements per token" +
             (a.window > 0 ? " in a window of " + std::to_string(a.window) : "")];
  std::string text;
  for (const auto& [what, n] : layers)
    text +=
        (text.empty() ? "" : "; ") + std::to_string(n) + (n == 1 ? " layer " : " layers ") + what;
  return text + ", " + std::string(d.attentions.front().node.arg("key").dtype().name());
}

/// "4 layers × 2 × 2 heads × 32 × float32 (8 query heads)"
std::string cache_evidence(const Decoder& d) {
  const auto& first = d.attentions.front();
  if (!first.kind.empty()) return stated_evidence(d);
  for (const auto& a : d.attentions)
    if (a.cache_bytes != first.cache_bytes || a.key_heads != first.key_heads)
      return "the layers differ; the first one has " + std::to_string(first.key_heads) +
             " key heads of " + std::to_string(first.width);
  return std::to_string(d.attentions.size()) + " layers × 2 × " + std::to_string(first.key_heads) +
         " heads × " + std::to_string(first.width) + " × " +
         std::string(first.node.arg("key").dtype().name()) + " (" + std::to_string(first.heads) +
         " query heads)";
}

void report_cache(const Decoder& d, const Call& call) {
  const auto bytes = d.cache_bytes(), growing = d.growing_cache_bytes();
  const auto per_token = growing / d.tokens(), per_sequence = bytes / d.batch;
  emit_total(call, "kv_cache_bytes", bytes);
  emit_total(call, "kv_bytes_per_token", quotient(growing, d.tokens()));
  if (d.attentions.empty()) return;
  Finding f;
  f.rule = "kv-cache";
  f.text = "a key/value cache takes " + bytes_text(per_token) + " per token, " +
           bytes_text(per_sequence) + " for a sequence of " + std::to_string(d.length);
  if (growing != bytes)
    f.text += ", including " + bytes_text((bytes - growing) / d.batch) + " for the encoder";
  f.evidence = cache_evidence(d);
  for (const auto& a : d.attentions) f.about(a.node);
  call.add(f);
}

void report_states(const Decoder& d, const Call& call) {
  emit_total(call, "state_bytes", d.state_bytes());
  if (d.states.empty()) return;
  Finding f;
  f.rule = "states";
  f.text = "states take " + bytes_text(d.state_bytes() / d.batch) + " for a sequence of any length";
  f.evidence = std::to_string(d.states.size()) + " layers; in " +
               std::string(d.states.front().module.path()) + " " +
               std::to_string(d.states.front().conv) + " elements for a convolution, " +
               std::to_string(d.states.front().recurrent) + " for a recurrence";
  call.add(f);
}

void report_decode(const Graph& graph, const Decoder& d, const Cost& cost,
                   const std::vector<Router>& routers, const Call& call) {
  emit_total(call, "decode_macs",
             cost.is_token_complete && cost.is_complete ? Cell(cost.token) : Cell::unsupported());
  const auto weights = bytes_read(graph, routers);
  emit_total(call, "decode_read_bytes",
             weights ? Cell(*weights + (d.cache_bytes() + d.state_bytes()) / d.batch)
                     : Cell::unsupported());
  if (!cost.is_complete || !cost.is_token_complete || !weights) return;
  const auto read = *weights + (d.cache_bytes() + d.state_bytes()) / d.batch;
  Finding f;
  f.rule = "decode";
  f.text = "prefill takes " + number_text(cost.all) + " MACs" +
           "; one more token at a context of " + std::to_string(d.length) + " takes " +
           number_text(cost.token) + " MACs" + " and reads " + bytes_text(read);
  f.evidence = bytes_text(*weights) + " of weights once per step, and the cache of each sequence";
  call.add(f);
}

void report_experts(const Graph& graph, const std::vector<Router>& routers, const Call& call) {
  if (routers.empty()) return;
  const auto params = count_parameters(graph, routers);
  emit_total(call, "active_params", params.active);
  const auto& first = routers.front();
  Finding f;
  f.rule = "mixture-of-experts";
  f.text = "each token uses " + number_text(params.active) + " of " + number_text(params.all) +
           " parameters: " + std::to_string(first.chosen) + " of " + std::to_string(first.experts) +
           " experts";
  f.evidence = plugins::place(first.topk) + " picks " + std::to_string(first.chosen) + " of " +
               std::to_string(first.experts) + " scores; experts are " + first.how + ", such as " +
               std::string(first.weights.front().name()) + "; " + std::to_string(routers.size()) +
               (routers.size() == 1 ? " router" : " routers");
  for (const auto& r : routers) f.about(r.topk);
  call.add(f);
}

void analyse(const Graph& graph, Call& call) {
  const auto decoder = plugins::recognise(graph);
  if (!decoder) return;
  const auto cost = plugins::cost_of(graph, *decoder, call);
  const auto routers = plugins::find_routers(graph);
  report_model(*decoder, cost, call);
  report_cache(*decoder, call);
  report_states(*decoder, call);
  report_decode(graph, *decoder, cost, routers, call);
  report_experts(graph, routers, call);
}

void register_all(tmeter::Registrar& r) {
  plugins::register_metrics(r, kMetrics);
  static const auto produced = plugins::ids_of(kMetrics);
  r.analysis("language-model", "macs", produced, analyse);
}

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "org.tmeter.language-model",
                       .version = "1.0.0",
                       .description = "Decoder language models: work and cache per token, active "
                                      "parameters of experts",
                       .needs = "flops",
                   }),
                   [](tmeter::Registrar& r) { register_all(r); })
