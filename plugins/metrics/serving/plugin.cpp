// serving: the memory that an inference engine takes to serve a decoder language model. Nothing is
// run.
#include <cmath>
#include <limits>
#include <map>

#include "plugins/common/decoder/experts.hpp"
#include "plugins/common/machine/machine.hpp"
#include "plugins/common/model_figures.hpp"
#include "plugins/common/serving/layers.hpp"
#include "plugins/common/serving/model_length.hpp"
#include "plugins/common/serving/serving.hpp"
#include "speed.hpp"

namespace {

using plugins::Decoder;
using plugins::emit_total;
using plugins::emit_unavailable;
using serving::bytes_text;
using serving::CacheBytes;
using serving::Serving;
using tmeter::Call;
using tmeter::Cell;
using tmeter::Count;
using tmeter::Finding;
using tmeter::Graph;

constexpr std::string_view kPrefillExpected =
    "the prefill by curves fitted on published measurements of products (docs/predictions.md), all "
    "products alike, and the sums of serving.devices";
constexpr std::string_view kStepExpected =
    "one more token of every sequence by curves fitted on published measurements of products "
    "(docs/predictions.md), all products alike, and the sums of serving.devices";
constexpr std::string_view kLow =
    "of ten runs of an engine that were measured one is shorter; those were TensorRT-LLM's";
constexpr std::string_view kHigh =
    "of ten runs of an engine that were measured one is longer; those were TensorRT-LLM's";

constexpr plugins::ModelFigure kFigures[] = {
    {"serving_bytes", "serving", "B", TMETER_UNIT_BYTE,
     "weights + caches + states, by the rule of serving.engine; compute buffers of the engine are "
     "not in it"},
    {"serving_weight_bytes", "weights", "B", TMETER_UNIT_BYTE,
     "parameters as stored, each storage once: `param_bytes`"},
    {"serving_cache_bytes", "cache", "B", TMETER_UNIT_BYTE,
     "keys and values of all layers for serving.sequences of serving.context tokens"},
    {"serving_state_bytes", "states", "B", TMETER_UNIT_BYTE,
     "recurrent and convolution states of all layers for serving.sequences"},
    {"serving_token_bytes", "cache per token", "B", TMETER_UNIT_BYTE,
     "keys and values of one token in all layers that keep the whole context, by element type"},
    {"serving_max_context", "longest context", "", TMETER_UNIT_COUNT,
     "tokens of each of serving.sequences with which serving_bytes is within serving.memory",
     TMETER_BETTER_HIGHER},
    {"serving_max_sequences", "most sequences", "", TMETER_UNIT_COUNT,
     "sequences of serving.context tokens with which serving_bytes is within serving.memory",
     TMETER_BETTER_HIGHER},
    {"serving_prefill_time", "first token", "s", TMETER_UNIT_SECOND,
     "lower bound of the prefill of all prompts, serving.context tokens each: max(MACs / peak.mac, "
     "(weights + caches) "
     "/ peak.dram); attention in full"},
    {"serving_step_time", "decode step", "s", TMETER_UNIT_SECOND,
     "lower bound of one more token of every sequence behind serving.context tokens: max(MACs / "
     "peak.mac, (weights "
     "read + caches) / peak.dram); of E experts, E · (1 − (1 − k/E)^sequences) are read"},
    {"serving_rate", "decode rate", "token/s", TMETER_UNIT_OTHER,
     "upper bound: serving.sequences / serving_step_time", TMETER_BETTER_HIGHER},
    {"serving_prefill_expected", "first token expected", "s", TMETER_UNIT_SECOND, kPrefillExpected},
    {"serving_prefill_expected_low", "first token at least", "s", TMETER_UNIT_SECOND, kLow},
    {"serving_prefill_expected_high", "first token at most", "s", TMETER_UNIT_SECOND, kHigh},
    {"serving_step_expected", "decode step expected", "s", TMETER_UNIT_SECOND, kStepExpected},
    {"serving_step_expected_low", "decode step at least", "s", TMETER_UNIT_SECOND, kLow},
    {"serving_step_expected_high", "decode step at most", "s", TMETER_UNIT_SECOND, kHigh},
    {"serving_rate_expected", "decode rate expected", "token/s", TMETER_UNIT_OTHER,
     "serving.sequences / serving_step_expected", TMETER_BETTER_HIGHER},
    {"serving_rate_expected_low", "decode rate at least", "token/s", TMETER_UNIT_OTHER,
     "serving.sequences / serving_step_expected_high", TMETER_BETTER_HIGHER},
    {"serving_rate_expected_high", "decode rate at most", "token/s", TMETER_UNIT_OTHER,
     "serving.sequences / serving_step_expected_low", TMETER_BETTER_HIGHER},
};

constexpr std::string_view kSpeeds[] = {"serving_prefill_time", "serving_step_time",
                                        "serving_rate"};
constexpr std::string_view kExpected[] = {
    "serving_prefill_expected", "serving_prefill_expected_low", "serving_prefill_expected_high",
    "serving_step_expected",    "serving_step_expected_low",    "serving_step_expected_high",
    "serving_rate_expected",    "serving_rate_expected_low",    "serving_rate_expected_high"};

void say(const Serving& s, const CacheBytes& bytes, const Call& call) {
  const auto& load = s.request().load;
  Finding f;
  f.rule = "serving";
  f.text = std::string(s.request().engine->name) + " takes " +
           bytes_text(s.weights() + bytes.all()) + " for " + std::to_string(load.sequences) +
           (load.sequences == 1 ? " sequence of " : " sequences of ") +
           std::to_string(load.context) + " tokens: " + bytes_text(s.weights()) + " of weights, " +
           bytes_text(bytes.keys_values) + " of cache (" + std::string(load.cache.name) + ")";
  if (bytes.states > Count(0)) f.text += ", " + bytes_text(bytes.states) + " of states";
  f.evidence = std::string(s.request().engine->rule) + "; its compute buffers come on top";
  if (s.request().own_context)
    f.evidence += "; the context is the recorded one: --set serving.context= for another";
  call.add(f);
}

/// What the engine does with a context that is longer than the model's.
void say_length(const Graph& graph, const Serving& s, const Call& call) {
  const auto length = serving::model_length(graph, s.request().engine->name);
  const auto context = s.request().load.context;
  if (!length || context <= length->tokens) return;
  Finding f;
  f.severity = TMETER_SEVERITY_WARNING;
  f.rule = "serving-context";
  f.text = "a context of " + std::to_string(context) + " tokens is longer than the model's " +
           std::to_string(length->tokens);
  f.evidence = length->source + "; " + std::string(s.request().engine->beyond);
  call.add(f);
}

/// Nothing for a graph with operators that have no MACs, or whose weights have no element size.
std::optional<serving::Speeds> speeds_of(const Graph& graph, const Decoder& d, Count weights,
                                         Call& call) {
  const auto cost = plugins::cost_of(graph, d, call);
  const auto routers = std::make_shared<std::vector<plugins::Router>>(plugins::find_routers(graph));
  if (!cost.known || !cost.token_known || !plugins::bytes_read(graph, *routers))
    return std::nullopt;
  serving::Speeds out;
  const auto real = [](Count n) { return static_cast<double>(n.value()); };
  out.token_macs = real(cost.token - cost.token_attention);
  out.attention_macs = real(cost.token_attention) / static_cast<double>(d.length);
  out.weight_bytes = real(weights);
  for (const auto& n : graph.nodes())
    if (!plugins::runs_once(n) && call.read("macs", n).count() > Count(0)) ++out.products;
  out.layers = static_cast<double>(d.attentions.size() + d.states.size());
  const auto table = d.embedding.arg("weight").shape();
  if (table.rank() == 2) out.width = static_cast<double>(table[1]);
  // Of a model without experts they do not depend on the number of sequences.
  const auto known = std::make_shared<std::map<int64_t, double>>();
  out.weights_read = [graph, routers, known, real](int64_t sequences) {
    const auto [at, is_new] = known->try_emplace(routers->empty() ? 1 : sequences);
    if (is_new) at->second = real(*plugins::bytes_read(graph, *routers, at->first));
    return at->second;
  };
  return out;
}

tmeter::DType type_of(const Decoder& d) { return d.embedding.arg("weight").dtype(); }

/// Empty where the profile has no rates for this element type.
std::optional<serving::Rates> rates_of(const Decoder& d, machine::Machine& machine, Call& call) {
  machine::Work work;
  work.kind = tmeter::OpClass::kMatmul;
  work.type = type_of(d);
  const auto macs =
      machine.has_peak_mac() ? machine.figure(machine::Family::kPeakMac, work, call) : std::nullopt;
  const auto bytes = machine.bandwidth();
  return macs && bytes ? std::optional(serving::Rates{*macs, *bytes}) : std::nullopt;
}

/// Tokens per second by the number of sequences, one curve for each context, while all fits.
void draw_rates(const serving::Speeds& speeds, const serving::Steps& steps, const Serving& s,
                const Call& call) {
  constexpr std::array<int64_t, 4> kContexts{1024, 8192, 32768, 131072};
  constexpr int64_t kMostSequences = 1024;
  const auto memory = s.request().memory > Count(0) ? s.request().memory
                                                    : Count(std::numeric_limits<int64_t>::max());
  const auto length = serving::model_length(call.graph(), s.request().engine->name);
  for (const auto context : kContexts) {
    if (length && context > length->tokens) break;
    tmeter::Series series;
    series.id = "serving-rate-" + std::to_string(context);
    series.title = "tokens per second at a context of " + std::to_string(context);
    series.x_title = "sequences";
    series.y_title = "expected rate", series.y_unit = "token/s";
    auto load = s.request().load;
    load.context = context;
    const auto most = std::min(kMostSequences, s.most_sequences(load, memory));
    for (int64_t n = 1; n <= most; n *= 2) {
      load.sequences = n;
      const auto caches = s.caches(load);
      if (!caches.unavailable.empty()) return;
      const auto step =
          steps.expected(speeds, speeds.decode(load, static_cast<double>(caches.all().value())));
      if (!step) return;
      series.x.push_back(static_cast<double>(n));
      series.y.push_back(static_cast<double>(n) / step->seconds);
    }
    if (series.x.empty()) continue;
    call.add(series);
  }
}

void say_expected(const serving::Speeds& speeds, const serving::Steps& steps, const Serving& s,
                  double cache, const machine::Curves& curves, Call& call) {
  const auto& load = s.request().load;
  const auto name = "hardware profile '" + std::string(call.hardware_name()) + "'";
  if (!curves.missing().empty()) return emit_unavailable(call, kExpected, curves.missing());
  const auto prefill = steps.expected(speeds, speeds.prefill(load, cache));
  const auto step = steps.expected(speeds, speeds.decode(load, cache));
  if (!prefill || !step)
    return emit_unavailable(
        call, kExpected,
        name + " has no curve for this element type (curve.*), or no link.bandwidth");
  for (const auto id : kExpected)
    call.set_provenance(id, TMETER_PROVENANCE_ESTIMATED,
                        "curves on " + name + ", " + curves.origin() +
                            "; the band is the scatter of TensorRT-LLM's published runs");
  emit_total(call, "serving_prefill_expected", Cell(prefill->seconds));
  emit_total(call, "serving_prefill_expected_low", Cell(prefill->low));
  emit_total(call, "serving_prefill_expected_high", Cell(prefill->high));
  emit_total(call, "serving_step_expected", Cell(step->seconds));
  emit_total(call, "serving_step_expected_low", Cell(step->low));
  emit_total(call, "serving_step_expected_high", Cell(step->high));
  const auto n = static_cast<double>(load.sequences);
  emit_total(call, "serving_rate_expected", Cell(n / step->seconds));
  emit_total(call, "serving_rate_expected_low", Cell(n / step->high));
  emit_total(call, "serving_rate_expected_high", Cell(n / step->low));
  draw_rates(speeds, steps, s, call);
}

void say_speed(const Graph& graph, const Decoder& d, const Serving& s, const CacheBytes& bytes,
               Call& call) {
  const auto name = "hardware profile '" + std::string(call.hardware_name()) + "'";
  machine::Machine machine("speed of serving");
  machine.start(call);
  const auto none = [&call](const std::string& why) {
    emit_unavailable(call, kSpeeds, why);
    emit_unavailable(call, kExpected, why);
  };
  const auto rates = rates_of(d, machine, call);
  if (!rates) return none(name + " has no peak rates (peak.mac.*, peak.dram)");
  const auto speeds = speeds_of(graph, d, s.weights(), call);
  if (!speeds) return none("MACs of some operators are not known");
  const auto& load = s.request().load;
  const auto cache = static_cast<double>(bytes.all().value());
  const auto devices = static_cast<double>(s.request().load.devices);
  const auto step = rates->seconds(speeds->decode(load, cache), devices);
  for (const auto id : kSpeeds)
    call.set_provenance(id, TMETER_PROVENANCE_ESTIMATED,
                        "roofline on " + name + ", a bound: no kernel reaches it");
  emit_total(call, "serving_prefill_time",
             Cell(rates->seconds(speeds->prefill(load, cache), devices)));
  emit_total(call, "serving_step_time", Cell(step));
  if (step > 0) emit_total(call, "serving_rate", Cell(static_cast<double>(load.sequences) / step));
  machine::Curves curves;
  curves.start(machine, call);
  const serving::Steps steps(machine, curves, call, type_of(d), devices);
  say_expected(*speeds, steps, s, cache, curves, call);
}

void analyse(const Graph& graph, Call& call) {
  const auto decoder = plugins::recognise(graph);
  if (!decoder) return;
  const auto request = serving::request_of(call, "", decoder->length);
  const auto weights = call.read("param_bytes", TMETER_AXIS_MODULE, 0);
  if (!weights.known()) return;
  const Serving s(serving::layers_of(*decoder), request, weights.count());
  const auto bytes = s.caches();
  if (!bytes.unavailable.empty()) {
    for (const auto& f : kFigures)
      call.set_provenance(f.id, TMETER_PROVENANCE_UNAVAILABLE, bytes.unavailable);
    emit_total(call, "serving_weight_bytes", s.weights());
    for (const auto id : {"serving_bytes", "serving_cache_bytes", "serving_state_bytes"})
      emit_total(call, id, Cell::unavailable());
    return;
  }
  emit_total(call, "serving_weight_bytes", s.weights());
  emit_total(call, "serving_cache_bytes", bytes.keys_values);
  emit_total(call, "serving_state_bytes", bytes.states);
  emit_total(call, "serving_bytes", s.weights() + bytes.all());
  emit_total(call, "serving_token_bytes", s.token_bytes());
  if (request.memory > Count(0)) {
    emit_total(call, "serving_max_context", Count(s.longest_context(request.load, request.memory)));
    emit_total(call, "serving_max_sequences",
               Count(s.most_sequences(request.load, request.memory)));
  }
  say(s, bytes, call);
  say_length(graph, s, call);
  say_speed(graph, *decoder, s, bytes, call);
}

void register_options(tmeter::Registrar& r) {
  r.option({.key = "engine",
            .type = TMETER_OPTION_CHOICE,
            .default_value = "transformers",
            .text = "whose rules of memory hold",
            .choices = serving::engine_names()});
  r.option({.key = "cache-type",
            .type = TMETER_OPTION_CHOICE,
            .default_value = "f16",
            .text = "element type of keys and values",
            .choices = serving::cache_type_names()});
  const auto count = [&r](std::string_view key, std::string_view preset, double min,
                          std::string_view text) {
    r.option({.key = key,
              .type = TMETER_OPTION_INT,
              .default_value = preset,
              .text = text,
              .min = min,
              .max = static_cast<double>(serving::kLongest)});
  };
  count("context", "0", 0, "tokens of each sequence, prompt and answer (0: as many as recorded)");
  count("sequences", "1", 1, "sequences at the same time");
  r.option({.key = "devices",
            .type = TMETER_OPTION_INT,
            .default_value = "1",
            .text = "devices that share weights, caches and products evenly",
            .min = 1,
            .max = 1024});
  count("batch", "0", 0, "tokens of one step of prefill (0: 512 of llama.cpp, 8192 of vLLM)");
  r.option(
      {.key = "memory",
       .default_value = "",
       .text =
           "of the device, as 24GiB or 80GB; without it capacity.dram of the hardware profile"});
}

void register_all(tmeter::Registrar& r) {
  register_options(r);
  plugins::register_figures(r, kFigures);
  static const auto produced = plugins::ids_of(kFigures);
  r.analysis("serving", "param_bytes macs", produced, analyse);
}

}  // namespace

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.serving",
        .version = "1.0.0",
        .description = "Memory for serving a decoder language model by the rules of a named engine",
        .needs = "flops memory",
    }),
    [](tmeter::Registrar& r) { register_all(r); })
