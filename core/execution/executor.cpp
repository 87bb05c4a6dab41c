#include "core/execution/executor.hpp"

#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/handles.hpp"

namespace tmeter::core {
namespace {

[[noreturn]] void refuse(const Registry& registry) {
  std::string why = "no plugin that runs models is installed";
  for (const auto& p : registry.plugins()) {
    if (p->manifest.executors.empty()) continue;
    const auto& reason = p->failure.empty() ? p->manifest.unavailable : p->failure;
    why = reason.empty() ? "the plugin '" + p->manifest.name + "' does not run this one"
                         : "the plugin '" + p->manifest.name + "' is not available: " + reason;
  }
  throw Error(ErrorKind::kRun, "the model cannot be run: " + why);
}

}  // namespace

Executor::Executor(Registry& registry, const Graph& graph, const RunOptions& options,
                   const RunContext& context) {
  for (const auto& [name, path] : options.inputs) inputs_.push_back({to_abi(name), to_abi(path)});
  for (const auto& path : options.libraries) libraries_.push_back(to_abi(path));
  request_ = {sizeof request_,        static_cast<int32_t>(options.threads),
              to_abi(options.device), options.seed,
              options.memory,         inputs_.data(),
              inputs_.size(),         libraries_.data(),
              libraries_.size()};
  for (const auto& p : registry.plugins()) {
    if (p->manifest.executors.empty() || p->library.empty() || !p->failure.empty()) continue;
    registry.open(*p);
    if (prepare(*p, graph, context)) return;
  }
  refuse(registry);
}

bool Executor::prepare(Plugin& plugin, const Graph& graph, const RunContext& context) {
  plugin_ = &plugin;
  call_.plugin_id = plugin.call.plugin_id;
  call_.options = plugin.call.options;
  call_.given = plugin.call.given;
  call_.registry = plugin.call.registry;
  call_.keeps_threads = plugin.call.keeps_threads;
  call_.run = context;
  for (const auto& executor : plugin.offers().executors) {
    executor_ = &executor;
    const auto status = invoke(call_, "while preparing the model", [&](tmeter_call* call) {
      return executor.prepare(call, to_handle(&graph), &request_, &state_, executor.user);
    });
    if (status == TMETER_OK) return true;
  }
  return false;
}

Executor::~Executor() {
  if (!state_) return;
  call_release(call_.plugin_id, "while releasing the model",
               [&] { executor_->release(state_, executor_->user); });
}

std::string_view Executor::name() const { return view(executor_->name); }

void Executor::run(int32_t kind, unsigned threads, const RunEventValidator& validator) {
  const auto status = invoke(call_, "while running the model", [&](tmeter_call* call) {
    return executor_->run(call, state_, kind, static_cast<int32_t>(threads), executor_->user);
  });
  if (status != TMETER_OK)
    throw PluginError(plugin_->manifest.id, "while running the model", "it declines to");
  if (const auto missing = validator.missing_event(); !missing.empty())
    throw PluginError(plugin_->manifest.id, "while running the model", missing);
}

}  // namespace tmeter::core
