// The installed plugins, some of them open.
//
// A plugin is found by its file name and sidecar manifest; its library is opened when it is needed.
// Use it from one thread. Its destructor ends the plugins (`deinit`); their libraries stay loaded.
#pragma once
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/manifest.hpp"
#include "core/config/manifest_index.hpp"
#include "core/config/pinned_library.hpp"
#include "core/config/settings.hpp"
#include "core/plugin_host/call.hpp"
#include "core/plugin_host/naming.hpp"
#include "core/plugin_host/operator_rules.hpp"
#include "core/plugin_host/plugin_capabilities.hpp"
#include "core/process/worker.hpp"

namespace tmeter::core {

struct Plugin {
  Manifest manifest;
  std::string library;        // path; empty: only a manifest exists
  bool is_link = false;       // the path is a link to the library
  bool described = true;      // false: describing failed, and only its file name is known
  bool has_manifest = false;  // a manifest made from this library describes it
  std::shared_ptr<const PinnedLibrary> file;  // null: without a library, or in tmeter's own folder
  std::shared_ptr<const PluginInstance> started;  // once open
  ResolvedOptions options;
  std::vector<GivenOption> given;  // options in its tables
  tmeter_call call;
  /// The reason why it is not called, such as a crash in an earlier attempt. Empty: it is called.
  std::string failure;
  PluginCapabilities offered;  // its capabilities, once open, even if it failed later
  /// Ids of its metrics that this run does without (core/analysis/requests.hpp).
  std::set<std::string, std::less<>> unrequested;

  bool is_open() const { return started != nullptr; }
  /// The capabilities that may be called: none if the plugin failed or is not open.
  const PluginCapabilities& offers() const {
    static const PluginCapabilities nothing;
    return failure.empty() ? offered : nothing;
  }
};

class Registry {
 public:
  /// `settings` supplies --plugin, --plugin-path and plugin options. Scans the folders; opens no
  /// library. Plugins without a manifest are described in processes of their own
  /// (describe.hpp), so construct it before the sandbox is entered. Problems with
  /// single files become `problems()`. `excluded` plugins are listed but not called
  /// (Plugin::failure). Plugins that the user leaves out
  /// ("-NAME" in settings.plugins) are not listed. Messages of plugins during `init` go to `log`,
  /// which outlives the registry.
  explicit Registry(const Settings& settings, std::vector<Excluded> excluded = {},
                    CallLog* log = nullptr);
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  const PluginList& plugins() const { return plugins_; }
  const std::vector<std::string>& problems() const { return problems_; }
  /// By id or short name. Throws Error(kUsage) when the name is unknown (with the nearest) or
  /// ambiguous.
  Plugin& get(std::string_view name);

  /// Opens the library, checks it, calls init, resolves options. Throws Error(kPlugin).
  void open(Plugin& plugin);
  /// Opens the plugins with these ids and all that they need, the needed ones first.
  std::vector<Plugin*> open_with_needs(const std::vector<std::string>& ids);

  /// A plugin that the plugin `by` needs; null if it needs no such plugin.
  const ResolvedOptions* options_of_needed(std::string_view name, std::string_view by);

  /// The schema of an operator's shape rule; null when no plugin has one. Throws Error(kUsage) when
  /// two plugins have different schemas.
  const std::string* schema_of(std::string_view op) { return schemas_.of(*this, op); }

  std::vector<std::string> names() const;
  /// Ids of the plugins given with --plugin FILE, which always take part.
  const std::vector<std::string>& given_files() const { return given_files_; }

 private:
  void scan(const std::string& folder);
  ManifestIndex index_in(const std::string& folder);
  void add_file(const std::string& library, bool must_work);
  void add_file(const std::string& library, bool must_work, ManifestIndex& index);
  void add_manifest(const std::string& file);
  std::optional<Manifest> manifest_of(const Plugin& plugin, const struct stat& info,
                                      ManifestIndex& index);
  std::shared_ptr<const PinnedLibrary> opened(const std::string& library,
                                              const struct stat& info) const;
  void leave_unopened(std::unique_ptr<Plugin> plugin, const std::string& why,
                      const std::string& problem);
  void add(std::unique_ptr<Plugin> plugin);
  bool is_duplicate(const struct stat& info);
  void add_unopened(std::unique_ptr<Plugin> plugin, bool given);
  void assign_options();
  void check_setting_names() const;
  static void require_described(const Plugin& plugin);
  bool any_has_metric(std::string_view metric) const;
  void require_known_metrics(const Plugin& plugin) const;
  void leave_out();
  void visit(Plugin& plugin, std::vector<Plugin*>& order, std::vector<std::string>& path);
  Plugin& needed(const std::string& need, const Plugin& by) const;

  void start(Plugin& plugin) const;
  bool failed_to_open(const Plugin& plugin) const;
  const Excluded* exclusion(const Plugin& plugin) const;

  const Settings& settings_;
  decltype(Settings::options) options_;  // by installed plugins
  std::vector<Excluded> excluded_;
  CallLog* log_;
  RuleSchemas schemas_;
  std::set<std::pair<uint64_t, uint64_t>> files_;  // device and inode of each library found
  PluginList plugins_;
  PluginList left_out_;
  std::vector<std::string> problems_;
  std::vector<std::string> given_files_;
};

/// The folders that are searched for plugins, in order.
std::vector<std::string> plugin_folders(const Settings& settings);

/// <prefix>/share/tmeter, beside the binary's own prefix.
std::string data_folder();
/// The folder of libraries in an installation that brings its own (the Python wheel).
std::string library_folder();
/// Programs that tmeter starts, by full path.
std::string own_program(const std::string& name);

}  // namespace tmeter::core
