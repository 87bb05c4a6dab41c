#include "core/plugin_host/started.hpp"

#include <map>

#include "core/base/error.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/call.hpp"
#include "core/plugin_host/interfaces.hpp"

namespace tmeter::core {
namespace {

using Started = std::weak_ptr<const StartedPlugin>;

/// By the entry's address, of which a library has one in a process. Nothing behind it: the plugin
/// has failed to start, or has ended.
auto& started_plugins() {
  static auto* map = new std::map<const tmeter_plugin_entry_v1*, Started>();
  return *map;
}

void init(const std::string& path, const PluginLibrary& library, CallLog* log) {
  tmeter_call call;
  call.plugin_id = str(library.info.id);
  call.run.log = log;
  const auto status = library.entry.init(&call, host_table(), to_abi(path), library.entry.user);
  if (status == TMETER_OK) return;
  const auto why = call.error.empty()
                       ? "its init failed without saying why (status " + std::to_string(status) +
                             "); this is a defect of the plugin"
                       : call.error;
  throw Error(ErrorKind::kPlugin, "plugin " + path + " could not be started: " + why);
}

}  // namespace

StartedPlugin::~StartedPlugin() {
  const InsidePlugin inside(id(), "while it was ended");
  entry().deinit(entry().user);
}

std::shared_ptr<const StartedPlugin> start_plugin(const std::string& path, CallLog* log) {
  const auto library = open_library(path);
  const auto [known, added] = started_plugins().try_emplace(library.address);
  if (!added) {
    if (auto plugin = known->second.lock()) return plugin;
    throw Error(ErrorKind::kPlugin, "plugin " + path + " could not be started before");
  }
  init(path, library, log);
  auto plugin = std::make_shared<const StartedPlugin>(library);
  known->second = plugin;
  return plugin;
}

}  // namespace tmeter::core
