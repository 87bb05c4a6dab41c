// fit: whether a model fits on a device, with which batch, context and image, which parts exceed it
// and which changes help. Nothing is run.
#include "metrics.hpp"
#include "plugins/common/options.hpp"
#include "plugins/common/serving/layers.hpp"
#include "search.hpp"
#include "served.hpp"

namespace {

using tmeter::Call;
using tmeter::Count;

/// fit.memory, else serving.memory, else the hardware profile's capacity.
std::optional<Count> memory_of(const Call& call) {
  if (const auto own = serving::memory_option(call, "memory", "fit.memory")) return own;
  if (const auto served = serving::memory_option(call, "serving.memory", "serving.memory"))
    return served;
  return serving::published_memory(call);
}

void analyse(const tmeter::Graph& graph, Call& call) {
  const auto memory = memory_of(call);
  if (!memory)
    return fit::emit_unavailable(call, {"fits"},
                                 "hardware profile '" + std::string(call.hardware_name()) +
                                     "' states no memory (capacity.dram): --set fit.memory=24GiB");
  const auto weights = call.read("param_bytes", TMETER_AXIS_MODEL, 0);
  const auto decoder = plugins::recognise(graph);
  if (decoder && weights.known() && !weights.partial()) {
    const serving::Serving served(serving::layers_of(*decoder),
                                  serving::request_of(call, "serving.", decoder->length),
                                  weights.count());
    fit::fit_serving(graph, *decoder, served, *memory, call);
  } else {
    fit::fit_inference(graph, *memory, call);
  }
  fit::fit_training(graph, *memory, call);
}

void register_all(tmeter::Registrar& r) {
  r.option(plugins::text_option("memory",
                                "memory of the device, such as 24GiB or 80GB; default: "
                                "serving.memory, or else capacity.dram of the hardware profile"));
  fit::register_metrics(r);
  r.analysis("fit", "param_bytes buffer_bytes peak_activation_bytes", fit::metric_ids(), analyse);
}

}  // namespace

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.fit",
        .version = "1.0.0",
        .description =
            "Whether a model fits on a device; the largest batch, context and image; remedies",
        .needs = "memory serving",
    }),
    [](tmeter::Registrar& r) { register_all(r); })
