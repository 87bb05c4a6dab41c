#include "core/plugin_host/propagation.hpp"

#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/builder_handle.hpp"
#include "core/plugin_host/handles.hpp"

namespace tmeter::core {
namespace {

std::string joined(std::span<const int64_t> dims) {
  std::string out;
  for (const auto d : dims) out += (out.empty() ? "" : "x") + std::to_string(d);
  return out;
}

/// "the file fixes input 'x' at 1x3x224x224; to work out the sizes for 8x3x224x224"
std::string requested_inputs(const Graph& graph) {
  for (const auto& i : graph.inputs()) {
    if (i.requested.empty()) continue;
    return "the file fixes input '" + std::string(i.name) + "' at " + joined(i.value->dims) +
           "; to work out the sizes for " + joined(i.requested);
  }
  return {};
}

/// "worked out for x=8x3x224x224, mask=8x1; the file records 1x3x224x224, 1x1"
std::string sizes_note(const Graph& graph) {
  std::string requested, recorded;
  for (const auto& i : graph.inputs()) {
    if (i.requested.empty()) continue;
    const std::string_view comma = requested.empty() ? "" : ", ";
    requested.append(comma).append(i.name).append("=").append(joined(i.requested));
    recorded.append(comma).append(joined(i.value->dims));
  }
  return "worked out for " + requested + "; the file records " + recorded;
}

[[noreturn]] void refuse(const Registry& registry, const Graph& graph) {
  std::string missing = " a plugin is needed that runs operators, and none is installed";
  for (const auto& p : registry.plugins()) {
    if (p->manifest.propagators.empty() || !p->library.empty()) continue;
    missing = " the plugin '" + p->manifest.name +
              "' is needed, which is not available: " + p->manifest.unavailable;
  }
  throw Error(ErrorKind::kRun, requested_inputs(graph) + missing +
                                   ". Or export the model with dynamic_shapes, or with that input");
}

std::unique_ptr<Graph> run_propagator(const tmeter_propagator& propagator, Plugin& plugin,
                                      const Graph& recorded) {
  tmeter_builder builder{.builder = GraphBuilder(recorded), .call = &plugin.call};
  const RunningFile running(plugin.call.run.log, view(propagator.name));
  const auto status =
      invoke(plugin.call, "while working out sizes for other inputs", [&](tmeter_call* call) {
        return propagator.propagate(call, to_handle(&recorded), &builder, propagator.user);
      });
  if (status != TMETER_OK) return nullptr;
  try {
    require_no_refusal(builder);
  } catch (const Error& e) {
    throw PluginError(plugin.manifest.id, "while working out sizes for other inputs", e.what());
  }
  builder.builder.property("sizes", sizes_note(recorded));
  return builder.builder.finish();
}

}  // namespace

void propagate(Registry& registry, LoadedModel& model, const RunContext& run) {
  for (const auto& p : registry.plugins()) {
    if (p->manifest.propagators.empty() || p->library.empty()) continue;
    registry.open(*p);
    p->call.run = run;
    for (const auto& propagator : p->offers().propagators) {
      auto graph = run_propagator(propagator, *p, *model.graph);
      if (!graph) continue;
      model.graph = std::move(graph);
      model.propagator = p.get();
      return;
    }
  }
  refuse(registry, *model.graph);
}

}  // namespace tmeter::core
