// serving: the memory that an inference engine takes to serve a decoder language model. Nothing is
// run.
#include <cmath>
#include <limits>
#include <map>

#include "by_layer.hpp"
#include "compute_buffer.hpp"
#include "metrics.hpp"
#include "plugins/common/decoder/experts.hpp"
#include "plugins/common/machine/machine.hpp"
#include "plugins/common/model_metrics.hpp"
#include "plugins/common/options.hpp"
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

void report_bytes(const Serving& s, const CacheBytes& bytes, const Call& call) {
  const auto& load = s.request().load;
  Finding f;
  f.rule = "serving";
  f.text = std::string(s.request().engine->name) + " takes " +
           bytes_text(s.weights() + bytes.all()) + " for " + std::to_string(load.sequences) +
           (load.sequences == 1 ? " sequence of " : " sequences of ") +
           std::to_string(load.context) + " tokens: " + bytes_text(s.weights()) + " of weights, " +
           bytes_text(bytes.keys_values) + " of cache (" + std::string(load.cache.name) + ")";
  if (bytes.states > Count(0)) f.text += ", " + bytes_text(bytes.states) + " of states";
  f.evidence = std::string(s.request().engine->rule) + "; its compute buffers are not included";
  if (s.request().own_context)
    f.evidence += "; the context is the recorded one; --set serving.context= sets another";
  call.add(f);
}

/// The bytes as a polynomial in context and sequences, for contexts that the engine does not round
/// up.
void report_formula(const Serving& s, const Call& call) {
  constexpr int64_t kProbeContext = int64_t{1} << 28;
  auto load = s.request().load;
  load.sequences = 1;
  const auto at = [&](int64_t context) {
    load.context = context;
    return s.caches(load).all();
  };
  try {
    const auto per_token = (at(2 * kProbeContext) - at(kProbeContext)) / kProbeContext;
    const auto constant = at(kProbeContext) - per_token * kProbeContext;
    const auto is_on_it = [&](int64_t n) { return at(n) == constant + per_token * n; };
    if (!is_on_it(4 * kProbeContext)) return;  // pages of another size than a power of two
    auto from = kProbeContext;
    while (from > 1 && is_on_it(from / 2)) from /= 2;
    Finding f;
    f.rule = "serving-formula";
    f.text = "serving_bytes = " + tmeter::grouped(s.weights().value()) + " + sequences · (" +
             (constant > Count(0) ? tmeter::grouped(constant.value()) + " + " : "") +
             tmeter::grouped(per_token.value()) + " · context)";
    f.evidence = "for contexts of " + tmeter::grouped(from) + ", " + tmeter::grouped(2 * from) +
                 ", " + tmeter::grouped(4 * from) + " … tokens, which the engine does not round up";
    call.add(f);
  } catch (const tmeter::Error&) {  // beyond 2^63
  }
}

/// The engine's treatment of a context that is longer than the model's.
void report_length(const Graph& graph, const Serving& s, const Call& call) {
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

/// Empty for a graph with operators that have no MACs, or whose weights have no element size.
std::optional<serving::Speeds> speeds_of(const Graph& graph, const Decoder& d,
                                         const plugins::Cost& cost, Count weights,
                                         const Call& call) {
  const auto routers = std::make_shared<std::vector<plugins::Router>>(plugins::find_routers(graph));
  const auto read_by_one = plugins::bytes_read(graph, *routers);
  if (!cost.is_complete || !cost.is_token_complete || !read_by_one) return std::nullopt;
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
  // For a model without experts they do not depend on the number of sequences.
  const auto bytes_by_sequences = std::make_shared<std::map<int64_t, double>>(
      std::map{std::pair{int64_t{1}, real(*read_by_one)}});
  out.weights_read = [graph, routers, bytes_by_sequences, real](int64_t sequences) {
    const auto [at, is_new] = bytes_by_sequences->try_emplace(routers->empty() ? 1 : sequences);
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
  const auto macs = machine.has_peak_mac()
                        ? machine.value_for(machine::Family::kPeakMac, work, call)
                        : std::nullopt;
  const auto bytes = machine.bandwidth();
  return macs && bytes ? std::optional(serving::Rates{*macs, *bytes}) : std::nullopt;
}

/// Tokens per second by the number of sequences, one curve for each context, while all fits.
void draw_rates(const serving::Speeds& speeds, const serving::Steps& steps, const Serving& s,
                const Call& call) {
  constexpr std::array<int64_t, 4> kContexts{1024, 8192, 32768, 131072};
  constexpr int64_t kMaxDrawnSequences = 1024;
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
    const auto most = std::min(kMaxDrawnSequences, s.max_sequences(load, memory));
    for (int64_t n = 1; n <= most; n *= 2) {
      load.sequences = n;
      const auto caches = s.caches(load);
      if (!caches.unavailable.empty()) return;
      const auto step = steps.expected(
          speeds, speeds.decode(load, static_cast<double>(caches.read_by_step().value())));
      if (!step) return;
      series.x.push_back(static_cast<double>(n));
      series.y.push_back(static_cast<double>(n) / step->seconds);
    }
    if (series.x.empty()) continue;
    call.add(series);
  }
}

/// The options of speculative decoding.
struct Draft {
  int64_t tokens = 0;               // γ; 0: none
  double acceptance = 0;            // α
  std::optional<double> cost = {};  // time of a step of the draft model over that of the model

  double accepted() const {
    const auto runs = static_cast<double>(tokens + 1);
    return acceptance == 1 ? runs : (1 - std::pow(acceptance, runs)) / (1 - acceptance);
  }
};

Draft draft_of(const Call& call) {
  constexpr double kMaxDraftCost = 10;
  Draft out{call.option_int("draft-tokens"), 0,
            serving::number_option(call, "draft-cost", kMaxDraftCost)};
  const auto acceptance = serving::number_option(call, "acceptance", 1);
  if (out.tokens == 0) return out;
  if (!acceptance)
    throw tmeter::Error(
        TMETER_BAD_USAGE,
        "serving.draft-tokens needs serving.acceptance, the share of drafted tokens "
        "that the model accepts, as in --set serving.acceptance=0.7");
  out.acceptance = *acceptance;
  return out;
}

/// The three values of a load on one profile, at best or as expected.
class LoadWork {
 public:
  LoadWork(const serving::Speeds& speeds, const Serving& s, const CacheBytes& bytes)
      : speeds_(speeds),
        load_(s.request().load),
        written_(static_cast<double>(bytes.all().value())),
        read_(static_cast<double>(bytes.read_by_step().value())) {}

  serving::StepWork prefill() const { return speeds_.prefill(load_, written_); }
  /// `tokens` of each sequence.
  serving::StepWork step(int64_t tokens = 1) const { return speeds_.decode(load_, read_, tokens); }
  double sequences() const { return static_cast<double>(load_.sequences); }

 private:
  const serving::Speeds& speeds_;
  const serving::Load& load_;
  double written_, read_;  // of the caches
};

/// Sequences · tokens / seconds; the longest time gives the lowest rate.
machine::Expected rate_of(double tokens, const machine::Expected& time) {
  return {tokens / time.seconds, tokens / time.high, tokens / time.low};
}

machine::Expected times(const machine::Expected& e, double n) {
  return {e.seconds * n, e.low * n, e.high * n};
}

void report_expected(const serving::Speeds& speeds, const serving::Steps& steps, const Serving& s,
                     const LoadWork& load_work, const machine::Curves& curves, const Draft& draft,
                     Call& call) {
  const auto name = "hardware profile '" + std::string(call.hardware_name()) + "'";
  auto ids = serving::ids_with_ends(serving::kExpected);
  const bool is_drafted = draft.tokens > 0 && draft.cost;
  if (is_drafted)
    for (const auto id : serving::ids_with_ends({&serving::kSpeculative, 1})) ids.push_back(id);
  if (!curves.missing().empty()) return emit_unavailable(call, ids, curves.missing());
  const auto prefill = steps.expected(speeds, load_work.prefill());
  const auto step = steps.expected(speeds, load_work.step());
  if (!prefill || !step)
    return emit_unavailable(
        call, ids, name + " has no curve for this element type (curve.*), or no link.bandwidth");
  for (const auto id : ids)
    call.set_provenance(id, TMETER_PROVENANCE_ESTIMATED,
                        "curves on " + name + ", " + curves.origin() +
                            "; the band is the scatter of published runs of vLLM and TensorRT-LLM");
  serving::emit_band(call, "serving_prefill_expected", *prefill);
  serving::emit_band(call, "serving_step_expected", *step);
  serving::emit_band(call, "serving_rate_expected", rate_of(load_work.sequences(), *step));
  if (is_drafted)
    if (auto round = steps.expected(speeds, load_work.step(draft.tokens + 1))) {
      *round += times(*step, static_cast<double>(draft.tokens) * *draft.cost);
      serving::emit_band(call, serving::kSpeculative,
                         rate_of(load_work.sequences() * draft.accepted(), *round));
    }
  draw_rates(speeds, steps, s, call);
}

/// The same with parameters of 8 and 4 bits, if that saves at least a tenth.
void report_quantized(const Graph& graph, const serving::Speeds& speeds,
                      const serving::Rates& rates, const serving::Steps& steps, const Serving& s,
                      const CacheBytes& bytes, Call& call) {
  const auto load = s.request().load;
  const auto n = static_cast<double>(load.sequences);
  for (const auto bits : serving::kWeightBits) {
    const auto weights = plugins::stored_elements(graph) * bits / 8;
    if (s.weights() == Count(0) || weights * 10 > s.weights() * 9) continue;
    emit_total(call, serving::of_bits("serving_bytes", bits), weights + bytes.all());
    const auto share =
        static_cast<double>(weights.value()) / static_cast<double>(s.weights().value());
    auto other = speeds;
    other.weights_read = [&speeds, share](int64_t at) { return speeds.weights_read(at) * share; };
    const auto work = other.decode(load, static_cast<double>(bytes.read_by_step().value()));
    const auto emit = [&](std::string_view id, double rate) {
      const auto own = serving::of_bits(id, bits);
      call.set_provenance(own, TMETER_PROVENANCE_ESTIMATED,
                          "the bounds and curves of " + std::string(id));
      emit_total(call, own, Cell(rate));
    };
    if (const auto step = rates.seconds(work, static_cast<double>(load.devices)); step > 0)
      emit("serving_rate", n / step);
    if (const auto step = steps.expected(other, work))
      emit("serving_rate_expected", n / step->seconds);
  }
}

void report_speculative(const serving::Rates& rates, const LoadWork& load_work, const Draft& draft,
                        double devices, const Call& call) {
  if (draft.tokens == 0) return;
  emit_total(call, "serving_accepted_tokens", Cell(draft.accepted()));
  if (!draft.cost)
    return emit_unavailable(call, {"serving_speculative_rate"},
                            "--set serving.draft-cost= sets the time of a draft step over that of "
                            "a model step (0 for drafts from the prompt)");
  const double round =
      rates.seconds(load_work.step(draft.tokens + 1), devices) +
      static_cast<double>(draft.tokens) * *draft.cost * rates.seconds(load_work.step(), devices);
  if (round > 0)
    emit_total(call, "serving_speculative_rate",
               Cell(load_work.sequences() * draft.accepted() / round));
}

void report_compute(const Graph& graph, const Decoder& d, const plugins::Cost& cost,
                    const Serving& s, const Call& call) {
  const auto buffer = serving::compute_buffer(graph, d, cost, s);
  if (buffer.unavailable.empty()) return emit_total(call, "serving_compute_bytes", buffer.bytes);
  call.set_provenance("serving_compute_bytes", TMETER_PROVENANCE_UNAVAILABLE, buffer.unavailable);
}

void report_speed(const Graph& graph, const Decoder& d, const plugins::Cost& cost, const Serving& s,
                  const CacheBytes& bytes, const Draft& draft, Call& call) {
  const auto name = "hardware profile '" + std::string(call.hardware_name()) + "'";
  machine::Machine machine("speed of serving");
  machine.start(call);
  const auto none = [&call](const std::string& why) {
    emit_unavailable(call, serving::kBounds, why);
    emit_unavailable(call, serving::ids_with_ends(serving::kExpected), why);
  };
  const auto speeds = speeds_of(graph, d, cost, s.weights(), call);
  if (!speeds) return none("the MACs of some operators are unknown");
  serving::report_steps(graph, d, cost, s.request().load, bytes, call);
  const LoadWork load_work(*speeds, s, bytes);
  const auto rounded = [](double n) { return Count(std::llround(n)); };
  if (const auto prefill = load_work.prefill().macs; prefill < 0x1p62) {
    emit_total(call, "serving_prefill_macs", rounded(prefill));
    emit_total(call, "serving_step_macs", rounded(load_work.step().macs));
    emit_total(call, "serving_step_bytes", rounded(load_work.step().bytes));
  }
  const auto rates = rates_of(d, machine, call);
  if (!rates) return none(name + " has no peak rates (peak.mac.*, peak.dram)");
  const auto devices = static_cast<double>(s.request().load.devices);
  const auto step = rates->seconds(load_work.step(), devices);
  for (const auto id : serving::kBounds)
    call.set_provenance(id, TMETER_PROVENANCE_ESTIMATED,
                        "roofline on " + name + ", a bound: no kernel reaches it");
  emit_total(call, "serving_prefill_time", Cell(rates->seconds(load_work.prefill(), devices)));
  emit_total(call, "serving_step_time", Cell(step));
  if (step > 0) emit_total(call, "serving_rate", Cell(load_work.sequences() / step));
  report_speculative(*rates, load_work, draft, devices, call);
  machine::Curves curves;
  curves.start(machine, call);
  const serving::Steps steps(machine, curves, call, type_of(d), devices,
                             s.request().engine->sequence_seconds);
  report_expected(*speeds, steps, s, load_work, curves, draft, call);
  report_quantized(graph, *speeds, *rates, steps, s, bytes, call);
}

/// Every value is missing for the same reason.
void report_none(const Call& call, const std::string& why) {
  for (const auto& m : serving::metrics())
    call.set_provenance(m.id, TMETER_PROVENANCE_UNAVAILABLE, why);
  emit_unavailable(call, {"serving_bytes", "serving_cache_bytes", "serving_state_bytes"}, why);
  serving::report_no_layers(call, why);
}

void analyse(const Graph& graph, Call& call) {
  const auto decoder = plugins::recognise(graph);
  if (!decoder)
    return report_none(call, "not a decoder language model (token ids as input, causal attention)");
  const auto request = serving::request_of(call, "", decoder->length);
  const auto weights = call.read("param_bytes", TMETER_AXIS_MODULE, 0);
  if (!weights.known()) return report_none(call, "the bytes of its weights are unknown");
  const Serving s(serving::layers_of(*decoder), request, weights.count());
  const auto draft = draft_of(call);
  const auto bytes = s.caches();
  if (!bytes.unavailable.empty()) {
    report_none(call, bytes.unavailable);
    call.set_provenance("serving_weight_bytes", TMETER_PROVENANCE_COMPUTED, "");
    return emit_total(call, "serving_weight_bytes", s.weights());
  }
  emit_total(call, "serving_weight_bytes", s.weights());
  emit_total(call, "serving_cache_bytes", bytes.keys_values);
  emit_total(call, "serving_state_bytes", bytes.states);
  emit_total(call, "serving_bytes", s.weights() + bytes.all());
  emit_total(call, "serving_token_bytes", s.token_bytes());
  if (request.memory > Count(0)) {
    emit_total(call, "serving_max_context", Count(s.longest_context(request.load, request.memory)));
    emit_total(call, "serving_max_sequences", Count(s.max_sequences(request.load, request.memory)));
  }
  serving::report_layer_bytes(graph, *decoder, bytes, call);
  report_bytes(s, bytes, call);
  report_formula(s, call);
  report_length(graph, s, call);
  const auto cost = plugins::cost_of(graph, *decoder, call);
  report_compute(graph, *decoder, cost, s, call);
  report_speed(graph, *decoder, cost, s, bytes, draft, call);
}

void register_options(tmeter::Registrar& r) {
  r.option(plugins::choice_option("engine", serving::engine_names(),
                                  "engine whose memory rules apply", "transformers"));
  r.option(plugins::choice_option("cache-type", serving::cache_type_names(),
                                  "element type of keys and values", "f16"));
  const auto count = [&r](std::string_view key, std::string_view preset, double min,
                          std::string_view text) {
    r.option(plugins::integer_option(key, preset, min, static_cast<double>(serving::kMaxSearched),
                                     text));
  };
  count("context", "0", 0, "tokens of each sequence, prompt and answer (0: as recorded)");
  count("sequences", "1", 1, "concurrent sequences");
  r.option(plugins::integer_option("devices", "1", 1, 1024,
                                   "devices that share weights, caches and products evenly"));
  count("own-window-extra", "0", 0,
        "engine own: tokens that a layer with a window keeps beyond the window");
  count("batch", "0", 0, "tokens of one step of prefill (0: 512 for llama.cpp, 8192 for vLLM)");
  r.option(plugins::integer_option("own-padding", "1", 1, 1 << 20,
                                   "engine own: the number of kept tokens is a multiple of this"));
  r.option(plugins::integer_option(
      "own-state-bytes", "0", 0, 8,
      "engine own: bytes of an element of a state (0: serving.cache-type)"));
  r.option(plugins::integer_option("own-reads", "1", 1, 1024,
                                   "engine own: reads of each key and value in a step, if the "
                                   "query heads of a group do not share them"));
  r.option(plugins::integer_option("draft-tokens", "0", 0, 1024,
                                   "speculative decoding: drafted tokens of each round (0: none)"));
  r.option(plugins::text_option(
      "acceptance",
      "speculative decoding: share of drafted tokens that the model accepts, 0 to 1"));
  r.option(plugins::text_option(
      "draft-cost", "speculative decoding: time of a draft step over that of a model step"));
  r.option(plugins::real_option(
      "memory-share", "0", 0, 1,
      "share of a device's memory that the engine takes (0: 0.92 for vLLM, else 1)"));
  r.option(plugins::text_option("memory",
                                "memory of the device, such as 24GiB or 80GB; default: "
                                "capacity.dram of the hardware profile"));
}

void register_all(tmeter::Registrar& r) {
  register_options(r);
  plugins::register_metrics(r, serving::metrics());
  serving::register_layers(r);
  static const auto produced = plugins::ids_of(serving::metrics()) + " " + serving::layer_ids();
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
