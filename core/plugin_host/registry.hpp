// The plugins that can be found, and those that are open.
//
// Found by file name and sidecar manifest; a library is opened only when something of it is needed.
// Used from one thread. Lives as long as the program: plugins are never unloaded.
#pragma once
#include <tmeter/abi/entry.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/manifest.hpp"
#include "core/config/settings.hpp"
#include "core/plugin_host/call.hpp"
#include "core/plugin_host/naming.hpp"
#include "core/process/worker.hpp"

namespace tmeter::core {

struct Plugin {
  Manifest manifest;
  std::string library;    // path; empty when only a manifest is there
  bool described = true;  // false: it could not be, and is known by its file's name
  const tmeter_plugin_entry_v1* entry = nullptr;  // once open
  ResolvedOptions options;
  tmeter_call call;
  /// Why it is not called any more: it ended or stalled an earlier attempt. Empty: it works.
  std::string failure;

  /// A capability table, or null; null, too, for a plugin that failed. It must be open.
  template <class Table>
  const Table* capability(std::string_view id) const {
    return failure.empty() ? table<Table>(id) : nullptr;
  }
  /// What it describes itself with, whether it failed since or not; null where it could not even be
  /// opened.
  const tmeter_metrics* metrics() const {
    return entry ? table<tmeter_metrics>(TMETER_CAP_METRICS) : nullptr;
  }

 private:
  template <class Table>
  const Table* table(std::string_view id) const {
    const InsidePlugin inside(manifest.id, "while it was asked what it offers", Opening::kWanted);
    const auto* table = static_cast<const Table*>(entry->get_capability({id.data(), id.size()}));
    return table && table->struct_size >= sizeof(uint32_t) * 2 ? table : nullptr;
  }
};

class Registry {
 public:
  /// `settings` supplies --plugin, --plugin-path and plugin options. Scans; opens nothing but
  /// plugins that come without a manifest. Problems with single files become `problems()`.
  /// What is `excluded` is found, but not called (Plugin::failure). What the user leaves out
  /// ("-NAME" in settings.plugins) is not there for anybody.
  explicit Registry(const Settings& settings, std::vector<Excluded> excluded = {});

  const PluginList& plugins() const { return plugins_; }
  const std::vector<std::string>& problems() const { return problems_; }
  /// By id or short name. Throws Error(kUsage): there is none (with the nearest), or several.
  Plugin& get(std::string_view name);

  /// Opens the library, checks it, calls init, resolves options. Throws Error(kPlugin).
  void open(Plugin& plugin);
  /// Opens those with these ids and all they need, in an order in which needed ones come first.
  std::vector<Plugin*> open_with_needs(const std::vector<std::string>& ids);

  std::vector<std::string> names() const;
  /// Ids of the plugins given with --plugin FILE: they always take part.
  const std::vector<std::string>& given_files() const { return given_files_; }

 private:
  void scan(const std::string& folder);
  void add_file(const std::string& library, bool must_work);
  void add_manifest(const std::string& file);
  std::optional<Manifest> manifest_of(const std::string& library);
  void require_allowed(const std::string& library) const;
  void add(std::unique_ptr<Plugin> plugin);
  void add_unopened(std::unique_ptr<Plugin> plugin, bool given);
  void check_setting_names() const;
  void leave_out();
  void visit(Plugin& plugin, std::vector<Plugin*>& order, std::vector<std::string>& path);
  Plugin& needed(const std::string& need, const Plugin& by) const;

  bool could_not_be_opened(const Plugin& plugin) const;
  const Excluded* exclusion(const Plugin& plugin) const;

  const Settings& settings_;
  std::vector<Excluded> excluded_;
  PluginList plugins_;
  PluginList left_out_;
  std::vector<std::string> problems_;
  std::vector<std::string> given_files_;
};

/// Where plugins are looked for, in order.
std::vector<std::string> plugin_folders(const Settings& settings);

/// <prefix>/share/tmeter, beside the binary's own prefix.
std::string data_folder();

}  // namespace tmeter::core
