#include "metrics.hpp"

#include <algorithm>

#include "plugins/common/decoder/experts.hpp"
#include "plugins/common/serving/serving.hpp"
#include "plugins/common/wording.hpp"

namespace fit {
namespace {

using serving::bytes_text;
using tmeter::Call;
using tmeter::Cell;
using tmeter::Count;
using tmeter::Finding;

constexpr uint32_t kPart = TMETER_METRIC_PART | TMETER_METRIC_DETAIL;

constexpr plugins::ModelMetric kMetrics[] = {
    {"fits", "fits", "yes/no", TMETER_UNIT_COUNT,
     "1 when fit_bytes is within the memory of serving.devices devices, else 0",
     TMETER_BETTER_HIGHER},
    {"fit_bytes", "needed", "B", TMETER_UNIT_BYTE,
     "decoder language models: serving_bytes; other models: parameters, buffers and the peak of "
     "activations"},
    {"fit_free_bytes", "left", "B", TMETER_UNIT_BYTE,
     "memory of the devices that is left; 0 when it does not fit", TMETER_BETTER_HIGHER},
    {"fit_missing_bytes", "missing", "B", TMETER_UNIT_BYTE,
     "memory that the devices lack; 0 when it fits"},
    {"fit_weight_bytes", "weights", "B", TMETER_UNIT_BYTE,
     "parameters as stored, each storage once", TMETER_BETTER_LOWER, kPart},
    {"fit_buffer_bytes", "buffers", "B", TMETER_UNIT_BYTE,
     "buffers of a model that no engine serves", TMETER_BETTER_LOWER, kPart},
    {"fit_activation_bytes", "activations", "B", TMETER_UNIT_BYTE,
     "peak of activations of a model that no engine serves", TMETER_BETTER_LOWER, kPart},
    {"fit_cache_bytes", "cache", "B", TMETER_UNIT_BYTE, "keys and values, by the engine's rule",
     TMETER_BETTER_LOWER, kPart},
    {"fit_state_bytes", "states", "B", TMETER_UNIT_BYTE,
     "recurrent and convolution states, by the engine's rule", TMETER_BETTER_LOWER, kPart},
    {"fit_memory_bytes", "memory", "B", TMETER_UNIT_BYTE, "memory of serving.devices devices",
     TMETER_BETTER_HIGHER, TMETER_METRIC_CAPACITY | TMETER_METRIC_DETAIL},
    {"fit_devices", "devices", "", TMETER_UNIT_COUNT,
     "smallest number of devices that the engine supports and that hold fit_bytes; buffers of each "
     "device are not included"},
    {"fit_max_batch", "largest batch", "", TMETER_UNIT_COUNT,
     "largest number of sequences of serving.context tokens, or largest batch of the inputs, with "
     "which the model fits",
     TMETER_BETTER_HIGHER},
    {"fit_max_context", "longest context", "", TMETER_UNIT_COUNT,
     "largest serving.context with which the model fits, by memory alone", TMETER_BETTER_HIGHER},
    {"fit_max_image", "largest image", "px", TMETER_UNIT_OTHER,
     "pixels of each side of the largest square image with which the model fits, the batch "
     "unchanged",
     TMETER_BETTER_HIGHER},
    {"fits_training", "training fits", "yes/no", TMETER_UNIT_COUNT,
     "1 when step_peak_bytes is within the memory of the device, else 0", TMETER_BETTER_HIGHER},
    {"fit_max_training_batch", "largest training batch", "", TMETER_UNIT_COUNT,
     "largest batch of the inputs with which step_peak_bytes fits", TMETER_BETTER_HIGHER},
    {"fit_max_training_context", "longest training context", "", TMETER_UNIT_COUNT,
     "most tokens of a sequence with which step_peak_bytes fits", TMETER_BETTER_HIGHER},
    {"fit_max_training_image", "largest training image", "px", TMETER_UNIT_OTHER,
     "pixels of each side of the largest square image with which step_peak_bytes fits",
     TMETER_BETTER_HIGHER},
};

}  // namespace

Count Need::all() const {
  Count sum = 0;
  for (const auto& p : parts) sum += p.bytes;
  return sum;
}

const Part& Need::largest() const {
  return *std::ranges::max_element(parts, {}, [](const Part& p) { return p.bytes; });
}

std::string_view metric_ids() {
  static const auto ids = plugins::ids_of(kMetrics);
  return ids;
}

void register_metrics(tmeter::Registrar& r) { plugins::register_metrics(r, kMetrics); }

std::string Memory::text() const {
  return (devices == 1 ? "" : std::to_string(devices) + " × ") + bytes_text(each);
}

void judge(const Need& need, const Memory& device, const Call& call) {
  const auto all = need.all(), memory = device.all();
  const bool fits = all <= memory;
  emit_total(call, "fits", Count(fits ? 1 : 0));
  emit_total(call, "fit_bytes", all);
  emit_total(call, "fit_memory_bytes", memory);
  for (const auto& p : need.parts) emit_total(call, p.id, p.bytes);
  emit_total(call, "fit_free_bytes", fits ? memory - all : Count(0));
  emit_total(call, "fit_missing_bytes", fits ? Count(0) : all - memory);
  if (need.devices)
    emit_total(call, "fit_devices", Count(*need.devices));
  else
    emit_unavailable(call, {"fit_devices"},
                     "the engine cannot divide it among any number of such devices");
  Finding f;
  f.rule = "fit";
  f.severity = fits ? TMETER_SEVERITY_INFO : TMETER_SEVERITY_WARNING;
  f.text = need.subject + (fits ? " fits into " : " does not fit into ") + device.text() + ": " +
           bytes_text(all) + " are needed, " +
           (fits ? bytes_text(memory - all) + " are left" : bytes_text(all - memory) + " too much");
  const auto share = [&](const Part& p) {
    return all == Count(0) ? std::string()
                           : " (" +
                                 plugins::percent(static_cast<double>(p.bytes.value()) /
                                                  static_cast<double>(all.value())) +
                                 ")";
  };
  if (!fits) f.text += "; most of it is " + need.largest().name;
  for (const auto& p : need.parts)
    if (p.bytes > Count(0))
      f.evidence +=
          (f.evidence.empty() ? "" : ", ") + p.name + " " + bytes_text(p.bytes) + share(p);
  f.evidence += "; " + need.leaves_out;
  call.add(f);
}

void advise(const Call& call, bool fits, const std::string& text, const std::string& evidence,
            const std::string& action, Count from, Count to) {
  Finding f;
  f.rule = "fit-remedy";
  f.severity = fits ? TMETER_SEVERITY_INFO : TMETER_SEVERITY_ADVICE;
  f.text = text;
  f.evidence = evidence;
  f.action = action;
  f.changes.push_back(
      {"fit_bytes", static_cast<double>(from.value()), static_cast<double>(to.value())});
  call.add(f);
}

std::vector<SmallerWeights> smaller_weights(const tmeter::Graph& graph, Count stored,
                                            const Call& call) {
  std::vector<SmallerWeights> out;
  const auto elements = plugins::stored_elements(graph);
  const auto plan = call.read("quantized_bytes", TMETER_AXIS_MODEL, 0);
  // 0: no weight could be read
  const bool is_planned = plan.is_int() && !plan.partial() && plan.count() > Count(0);
  for (const int64_t bits : {16, 8, 4})
    out.push_back({"weights in " + std::to_string(bits) + " bits",
                   std::to_string(elements.value()) + " parameters of " + std::to_string(bits) +
                       " bits" +
                       (bits < 16 ? ", without scales and layers that keep their type" : ""),
                   bits < 16 && !is_planned
                       ? "--plugins=quantization-advice names the layers that tolerate it"
                       : "",
                   elements * bits / 8});
  if (is_planned)
    out.push_back({"weights by the plan of quantization-advice",
                   "quantized_bytes, with scales and zero points: every weight within "
                   "quantization-advice.min-sqnr",
                   "see the finding quantization-plan", plan.count()});
  std::erase_if(out, [&](const SmallerWeights& w) { return w.bytes * 10 > stored * 9; });
  return out;
}

}  // namespace fit
