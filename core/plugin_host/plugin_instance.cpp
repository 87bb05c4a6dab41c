#include "core/plugin_host/plugin_instance.hpp"

#include <map>

#include "core/base/error.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/call.hpp"
#include "core/plugin_host/interfaces.hpp"

namespace tmeter::core {
namespace {

using Started = std::weak_ptr<const PluginInstance>;

/// Keyed by entry address: one per loaded library. An expired pointer: the plugin failed to start,
/// or was shut down.
auto& started_plugins() {
  static auto* map = new std::map<const tmeter_plugin_entry_v1*, Started>();
  return *map;
}

[[noreturn]] void refuse_start(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::kPlugin, "plugin " + path + " could not be started: " + why);
}

tmeter_status init(const std::string& path, const PluginLibrary& library, tmeter_call& call) {
  const auto& entry = library.entry;
  try {
    return entry.init(&call, host_table(), to_abi(path), entry.user);
  } catch (...) {
    refuse_start(path, escaped_exception());
  }
}

void start(const std::string& path, const PluginLibrary& library, CallLog* log) {
  tmeter_call call;
  call.plugin_id = str(library.info.id);
  call.run.log = log;
  const FrameScope frame(call);
  const auto status = init(path, library, call);
  if (status == TMETER_OK) return;
  refuse_start(path, call.frame.error.empty()
                         ? "its init failed without saying why (status " + std::to_string(status) +
                               "); this is a defect of the plugin"
                         : call.frame.error);
}

}  // namespace

PluginInstance::~PluginInstance() {
  if (!skips_deinit_)
    call_release(id(), "while it was shut down", [&] { entry().deinit(entry().user); });
}

std::shared_ptr<const PluginInstance> start_plugin(const LibraryToOpen& request, CallLog* log) {
  const auto& path = request.path;
  const auto library = open_library(request);
  const auto [at, added] = started_plugins().try_emplace(library.address);
  if (!added) {
    if (auto plugin = at->second.lock()) return plugin;
    throw Error(ErrorKind::kPlugin, "plugin " + path + " could not be started before");
  }
  start(path, library, log);
  auto plugin = std::make_shared<const PluginInstance>(library);
  at->second = plugin;
  return plugin;
}

}  // namespace tmeter::core
