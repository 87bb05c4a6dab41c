#include "served.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "layers_of_model.hpp"
#include "metrics.hpp"
#include "plugins/common/serving/model_length.hpp"

namespace fit {
namespace {

using plugins::Decoder;
using serving::bytes_text;
using serving::CacheBytes;
using serving::Load;
using serving::Serving;
using tmeter::Call;
using tmeter::Count;
using tmeter::Finding;

/// The smaller cache types of each engine, in falling order of bytes.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kSmallerCaches{
    {{"transformers", "bf16"},
     {"llama.cpp", "f16"},
     {"llama.cpp", "q8_0"},
     {"llama.cpp", "q4_0"},
     {"vllm", "bf16"},
     {"vllm", "fp8"}}};

std::string sequences_text(int64_t n) {
  return plugins::count_of(static_cast<size_t>(n), "sequence");
}

std::string tokens_text(int64_t n) { return plugins::count_of(static_cast<size_t>(n), "token"); }

std::string load_text(const Load& load) {
  return sequences_text(load.sequences) + " of " + tokens_text(load.context);
}

/// "12 sequences fit then"
std::string consequence(const Serving& s, Count memory) {
  const auto& load = s.request().load;
  const auto all = s.all(load);
  if (all > memory) return bytes_text(all - memory) + " are still too much";
  return sequences_text(s.max_sequences(load, memory)) + " fit then";
}

class Remedies {
 public:
  Remedies(const Serving& served, const Memory& memory, const Call& call)
      : s_(served),
        memory_(memory.all()),
        each_(memory.each),
        call_(call),
        now_(served.all(served.request().load)) {}

  void caches() const {
    for (const auto& [engine, name] : kSmallerCaches) {
      if (engine != s_.request().engine->name) continue;
      auto request = s_.request();
      request.load.cache = *serving::cache_type(name);
      const Serving other(s_.layers(), request, s_.weights());
      propose("a cache in " + std::string(name) + " takes", other,
              "by the rule of " + std::string(engine),
              "--set serving.cache-type=" + std::string(name));
    }
  }

  void weights(const tmeter::Graph& graph) const {
    for (const auto& w : smaller_weights(graph, s_.weights(), call_))
      propose(w.what + " take", Serving(s_.layers(), s_.request(), w.bytes), w.evidence, w.action);
  }

  /// Moves whole layers, beginning with the first.
  void offload(const Decoder& decoder) const {
    if (now_ <= memory_) return;
    const auto layers = layer_bytes(decoder, s_.caches(), call_);
    Count moved = 0;
    size_t n = 0;
    while (n < layers.size() && now_ - moved > memory_) moved += layers[n++];
    if (layers.empty() || now_ - moved > memory_) return;
    advise(call_, false,
           "with " + std::to_string(n) + " of " + std::to_string(layers.size()) +
               " layers in the host's memory, " + bytes_text(moved) + ", the rest fits",
           "weights and caches of these layers; every token waits for their transfer or for the "
           "host's processor",
           "", now_, now_ - moved);
  }

  void devices(std::optional<int64_t> needed) const {
    if (now_ <= memory_ || !needed) return;
    auto load = s_.request().load;
    load.devices = *needed;
    const auto all = s_.all(load);
    Finding f;
    f.rule = "fit-remedy";
    f.severity = TMETER_SEVERITY_ADVICE;
    f.text = "at least " + std::to_string(*needed) + " such devices are needed";
    f.evidence = "by the rule of " + std::string(s_.request().engine->name) + " " +
                 bytes_text(all) + " together, " + bytes_text((all + (*needed - 1)) / *needed) +
                 " on each of " + bytes_text(each_) +
                 "; the separate memory of each device is not included";
    f.action = "--set serving.devices=" + std::to_string(*needed);
    call_.add(f);
  }

 private:
  void propose(const std::string& what, const Serving& other, const std::string& evidence,
               const std::string& action) const {
    const auto caches = other.caches();
    if (!caches.unavailable.empty()) return;
    const auto then = other.weights() + caches.all();
    if (then >= now_) return;
    advise(call_, now_ <= memory_,
           what + " " + bytes_text(now_ - then) + " less; " + consequence(other, memory_), evidence,
           action, now_, then);
  }

  const Serving& s_;
  Count memory_, each_;
  const Call& call_;
  Count now_;
};

/// The longest context for each number of sequences, until none fits.
void report_table(const Serving& s, Count memory, const Call& call) {
  constexpr int64_t kMaxSequences = 1024;
  tmeter::Series series;
  series.id = "fit-context", series.title = "longest context that fits";
  series.x_title = "sequences", series.y_title = "context", series.y_unit = "tokens";
  Finding f;
  f.rule = "fit-table";
  for (int64_t n = 1; n <= kMaxSequences; n *= 2) {
    auto load = s.request().load;
    load.sequences = n;
    const auto context = s.longest_context(load, memory);
    if (context == 0) break;
    series.x.push_back(static_cast<double>(n));
    series.y.push_back(static_cast<double>(context));
    f.text += (n == 1 ? "sequences × longest context that fits: " : ", ") + std::to_string(n) +
              " × " + std::to_string(context);
  }
  if (series.x.empty()) return;
  f.evidence = "by memory alone, " + std::string(s.request().engine->name) + ", cache in " +
               std::string(s.request().load.cache.name);
  if (const auto length = serving::model_length(call.graph(), s.request().engine->name))
    f.evidence += "; the model's own longest context is " + std::to_string(length->tokens) + " (" +
                  length->source + ")";
  call.add(f);
  call.add(series);
}

/// Bytes by context, one curve for each number of sequences.
void draw_curves(const Serving& s, const Call& call) {
  const auto& requested = s.request().load;
  const std::set<int64_t> sequences{1, 8, 32, 128, requested.sequences};
  constexpr int64_t kMinContext = 1024, kDefaultMaxContext = 131072;
  const auto length = serving::model_length(call.graph(), s.request().engine->name);
  const auto longest = std::max(requested.context, length ? length->tokens : kDefaultMaxContext);
  std::set<int64_t> contexts;
  for (auto context = kMinContext; context <= longest; context *= 2) contexts.insert(context);
  if (!s.request().own_context) contexts.insert(requested.context);
  for (const auto n : sequences) {
    tmeter::Series series;
    series.id = "fit-memory-" + std::to_string(n);
    series.title = "memory for " + sequences_text(n);
    series.x_title = "context", series.x_unit = "tokens";
    series.y_title = "memory", series.y_unit = "B";
    for (const auto context : contexts) {
      auto load = requested;
      load.sequences = n, load.context = context;
      series.x.push_back(static_cast<double>(context));
      try {
        series.y.push_back(static_cast<double>(s.all(load).value()));
      } catch (const tmeter::Error&) {
        series.x.pop_back();
        break;  // beyond 2^63
      }
    }
    if (!series.x.empty()) call.add(series);
  }
}

void report_largest(const Serving& s, int64_t batch, int64_t context, const Call& call) {
  const auto& load = s.request().load;
  Finding f;
  f.rule = "fit-largest";
  f.text = batch == 0
               ? "not one sequence of " + tokens_text(load.context) + " fits"
               : "at most " + sequences_text(batch) + " of " + tokens_text(load.context) + " fit";
  f.text += context == 0
                ? ", nor any context of " + sequences_text(load.sequences)
                : ", or " + sequences_text(load.sequences) + " of at most " + tokens_text(context);
  f.evidence = s.request().own_context
                   ? "the context is the recorded one; --set serving.context= sets another"
                   : std::string(s.request().engine->rule);
  call.add(f);
}

}  // namespace

void fit_serving(const tmeter::Graph& graph, const Decoder& decoder, const Serving& served,
                 Count whole, const Call& call) {
  const auto bytes = served.caches();
  if (!bytes.unavailable.empty())
    return emit_unavailable(call, {"fits", "fit_bytes", "fit_max_batch", "fit_max_context"},
                            bytes.unavailable);
  const auto& request = served.request();
  Need need{"serving " + load_text(request.load),
            {{"fit_weight_bytes", "weights", served.weights()}},
            ""};
  need.parts.push_back({"fit_cache_bytes", "cache (" + std::string(request.load.cache.name) + ")",
                        bytes.keys_values});
  if (bytes.states > Count(0)) need.parts.push_back({"fit_state_bytes", "states", bytes.states});
  need.leaves_out = "compute buffers of " + std::string(request.engine->name) + " are not included";
  const auto each = request.usable(whole);
  if (each != whole)
    need.leaves_out += "; it takes " + bytes_text(each) + " of " + bytes_text(whole) + " (" +
                       std::string("serving.memory-share") + ")";
  // Unknown operators may also keep a state between tokens.
  if (const auto macs = call.read("macs", TMETER_AXIS_MODEL, 0); !macs.known() || macs.partial())
    return emit_unavailable(
        call, {"fits", "fit_max_batch", "fit_max_context"},
        "some operators are not understood; at least " + bytes_text(need.all()) + " are needed");
  const Memory devices{each, request.load.devices};
  const auto memory = serving::memory_of_all(each, devices.devices, "fit.memory");
  need.devices = served.min_devices(each);
  judge(need, devices, call);
  const auto batch = served.max_sequences(request.load, memory);
  const auto context = served.longest_context(request.load, memory);
  emit_total(call, "fit_max_batch", Count(batch));
  emit_total(call, "fit_max_context", Count(context));
  report_largest(served, batch, context, call);
  report_table(served, memory, call);
  draw_curves(served, call);
  const Remedies remedies(served, devices, call);
  remedies.caches();
  remedies.weights(graph);
  remedies.offload(decoder);
  remedies.devices(need.devices);
}

}  // namespace fit
