#include "by_layer.hpp"

#include <cmath>
#include <map>

#include "plugins/common/decoder/experts.hpp"
#include "plugins/common/model_metrics.hpp"

namespace serving {
namespace {

using plugins::Decoder;
using tmeter::Call;
using tmeter::Count;
using tmeter::Graph;

enum : size_t { kKept, kPrefillMacs, kPrefillBytes, kStepMacs, kStepBytes };

constexpr tmeter::MetricSpec kColumns[] = {
    {.id = "serving_layer_bytes",
     .title = "kept",
     .unit = "B",
     .unit_kind = TMETER_UNIT_BYTE,
     .convention =
         "keys, values and states that the layer keeps for serving.sequences of serving.context "
         "tokens, by the rule of serving.engine"},
    {.id = "serving_layer_prefill_macs",
     .title = "prefill MACs",
     .unit = "MAC",
     .unit_kind = TMETER_UNIT_OP,
     .flags = TMETER_METRIC_DETAIL,
     .convention =
         "MACs of all prompt tokens, attention in full; of experts, those that a token chooses"},
    {.id = "serving_layer_prefill_bytes",
     .title = "prefill moves",
     .unit = "B",
     .unit_kind = TMETER_UNIT_BYTE,
     .flags = TMETER_METRIC_DETAIL,
     .convention = "weights that the tokens of all prompts read, and the caches that they write; "
                   "of E experts, E · (1 − (1 − k/E)^tokens)"},
    {.id = "serving_layer_step_macs",
     .title = "step MACs",
     .unit = "MAC",
     .unit_kind = TMETER_UNIT_OP,
     .flags = TMETER_METRIC_DETAIL,
     .convention =
         "MACs of one more token of every sequence; of experts, those that a token chooses"},
    {.id = "serving_layer_step_bytes",
     .title = "step reads",
     .unit = "B",
     .unit_kind = TMETER_UNIT_BYTE,
     .flags = TMETER_METRIC_DETAIL,
     .convention =
         "weights that one more token of every sequence reads, and the caches; of E experts, "
         "E · (1 − (1 − k/E)^sequences)"},
};

/// An operator of each layer, to which the bytes that it keeps belong.
std::vector<std::optional<tmeter::Node>> operators_of_layers(const Graph& graph, const Decoder& d) {
  std::vector<std::optional<tmeter::Node>> out;
  for (const auto& a : d.attentions) out.emplace_back(a.node);
  std::map<size_t, size_t> places;  // module → of the state
  for (const auto& s : d.states) {
    places.emplace(s.module.index(), out.size());
    out.emplace_back();
  }
  if (places.empty()) return out;
  for (const auto& n : graph.nodes()) {
    if (!n.call()) continue;
    for (auto m = n.call().module(); m; m = m.parent())
      if (const auto at = places.find(m.index()); at != places.end()) {
        if (!out[at->second]) out[at->second] = n;
        break;
      }
  }
  return out;
}

using Sums = std::map<size_t, Count>;  // by index of an operator

void add(Sums& sums, size_t node, Count n) { sums.try_emplace(node, 0).first->second += n; }

/// `reads`: how often each key and value counts.
Sums kept_by(const Graph& graph, const Decoder& d, const CacheBytes& bytes, int64_t reads = 1) {
  Sums sums;
  const auto operators = operators_of_layers(graph, d);
  for (size_t i = 0; i < bytes.layers.size() && i < operators.size(); ++i)
    if (operators[i])
      add(sums, operators[i]->index(), bytes.layers[i] * (i < d.attentions.size() ? reads : 1));
  return sums;
}

void emit(const Sums& sums, size_t column, const Call& call) {
  for (const auto& [node, sum] : sums) call.emit(kColumns[column].id, TMETER_AXIS_NODE, node, sum);
}

}  // namespace

void register_layers(tmeter::Registrar& r) {
  for (const auto& c : kColumns) r.metric(c);
}

std::string layer_ids() { return plugins::ids_of(kColumns); }

void report_no_layers(const Call& call, const std::string& why) {
  for (const auto& c : kColumns) {
    call.set_provenance(c.id, TMETER_PROVENANCE_UNAVAILABLE, why);
    if (call.graph().nodes().size() > 0)
      call.emit(c.id, TMETER_AXIS_NODE, 0, tmeter::Cell::unavailable());
  }
}

void report_layer_bytes(const Graph& graph, const Decoder& d, const CacheBytes& bytes,
                        const Call& call) {
  emit(kept_by(graph, d, bytes), kKept, call);
}

void report_steps(const Graph& graph, const Decoder& d, const plugins::Cost& cost, const Load& load,
                  const CacheBytes& kept, const Call& call) {
  const auto routers = plugins::find_routers(graph);
  std::optional<std::vector<plugins::ReadBytes>> reads;  // without experts they are constant
  const auto emit_phase = [&](size_t macs_column, size_t bytes_column, int64_t tokens,
                              int64_t times) {
    if (!reads || !routers.empty()) reads = plugins::reads_of(graph, routers, tokens);
    Sums macs, bytes = kept_by(graph, d, kept, times);
    for (const auto& o : cost.operators) {
      const double growth =
          o.grows ? static_cast<double>(load.context) / static_cast<double>(d.length) : 1;
      const double n = static_cast<double>(o.macs.value()) * growth * static_cast<double>(tokens);
      if (!(n < 0x1p62)) return;
      add(macs, o.node.index(), Count(std::llround(n)));
    }
    for (const auto& r : *reads) add(bytes, r.node.index(), r.bytes);
    emit(macs, macs_column, call);
    emit(bytes, bytes_column, call);
  };
  emit_phase(kPrefillMacs, kPrefillBytes, (Count(load.context) * load.sequences).value(), 1);
  emit_phase(kStepMacs, kStepBytes, load.sequences, kept.reads);
}

}  // namespace serving
