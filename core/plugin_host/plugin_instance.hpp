// A plugin between `init` and `deinit`.
#pragma once
#include <tmeter/abi/entry.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/plugin_host/library.hpp"

namespace tmeter::core {

class CallLog;

/// Shared by all users of the plugin; the last one ends it.
class PluginInstance {
 public:
  explicit PluginInstance(const PluginLibrary& library) : library_(library) {}
  ~PluginInstance();
  PluginInstance(const PluginInstance&) = delete;
  PluginInstance& operator=(const PluginInstance&) = delete;

  const tmeter_plugin_entry_v1& entry() const { return library_.entry; }
  const tmeter_plugin_info& info() const { return library_.info; }
  /// The plugin's id.
  std::string_view id() const { return {library_.info.id.ptr, library_.info.id.len}; }
  /// Marks it as failed: its `deinit` is not called either.
  void skip_deinit() const { skips_deinit_ = true; }

 private:
  PluginLibrary library_;
  mutable bool skips_deinit_ = false;
};

/// Opens the library and calls `init`, once in a process: a library that is found in two ways is
/// one plugin. Its messages go to `log`, if there is one. Throws Error(kPlugin), with
/// the plugin's own message, if it cannot be started.
std::shared_ptr<const PluginInstance> start_plugin(const LibraryToOpen& library, CallLog* log);

}  // namespace tmeter::core
