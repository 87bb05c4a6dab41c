#include "core/plugin_host/registry.hpp"

#include <dirent.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/sha256.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/describe.hpp"
#include "core/plugin_host/open_guarded.hpp"
#include "core/plugin_host/plugin_capabilities.hpp"
#include "core/process/sandbox.hpp"

namespace tmeter::core {
namespace {
namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".tmeter", kManifestSuffix = ".tmeter.toml";
const fs::path& install_prefix() {
  static const fs::path prefix = [] {
    std::error_code failed;
    auto exe = fs::read_symlink("/proc/self/exe", failed);
    // Without /proc: the path of the execve call, which may be relative or a link.
    const auto* started_as = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
    if (failed && started_as) exe = fs::canonical(started_as, failed);
    return failed ? fs::path("/usr/local") : exe.parent_path().parent_path();
  }();
  return prefix;
}

/// The folder of tmeter's own plugins.
fs::path own_folder() { return install_prefix() / "lib/tmeter/plugins"; }

/// Announces third-party code to the supervisor before it runs.
void note_code_of(const Plugin& p) {
  if (p.file) note_participant({p.library, p.manifest.id});
}

/// Plugins in tmeter's own folder are trusted: a user who can change them can change tmeter.
bool is_own(std::string_view library) {
  static const auto own = own_folder().string();
  const auto folder = library.substr(0, library.rfind('/'));
  std::error_code none;
  return folder == own || fs::equivalent(folder, own, none);
}

/// In the order of their names, which is the same on every machine.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(folder.c_str()), closedir);
  while (const auto* entry = listing ? readdir(listing.get()) : nullptr)
    names.emplace_back(entry->d_name);
  std::sort(names.begin(), names.end());
  return names;
}

void add_path_list(std::vector<std::string>& out, const char* list) {
  if (!list) return;
  for (auto& part : split(list, ":")) out.push_back(std::move(part));
}

}  // namespace

std::vector<std::string> plugin_folders(const Settings& settings) {
  std::vector<std::string> folders = settings.plugin_paths;
  add_path_list(folders, std::getenv("TMETER_PLUGIN_PATH"));
  const char* data_home = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  if (data_home && *data_home) {
    folders.push_back(std::string(data_home) + "/tmeter/plugins");
  } else if (home && *home) {
    folders.push_back(std::string(home) + "/.local/share/tmeter/plugins");
  }
  folders.push_back(own_folder().string());
  return folders;
}

std::string data_folder() { return (install_prefix() / "share/tmeter").string(); }
std::string library_folder() { return (install_prefix() / "lib/tmeter/libs").string(); }
std::string own_program(const std::string& name) {
  return (install_prefix() / "lib/tmeter/programs" / name).string();
}

Registry::Registry(const Settings& settings, std::vector<Excluded> excluded, CallLog* log)
    : settings_(settings), excluded_(std::move(excluded)), log_(log) {
  for (const auto& folder : settings.plugin_paths) {
    if (!fs::is_directory(folder))
      throw Error(ErrorKind::kUsage, "--plugin-path " + folder + ": no such folder");
    if (const auto why = other_writers(folder); !why.empty())
      throw Error(ErrorKind::kUsage, "--plugin-path " + folder + " is not used: " + why);
  }
  for (const auto& file : settings.plugin_files) add_file(file, true);
  for (const auto& folder : plugin_folders(settings)) scan(folder);
  assign_options();
  check_setting_names();
  leave_out();
}

/// The supervisor limits the time of this call.
Registry::~Registry() {
  const StageScope stage(Stage::kEnding);
  left_out_.clear();
  plugins_.clear();
}

/// Every problem in the folder is reported as a note, not an error.
void Registry::scan(const std::string& folder) {
  if (const auto why = other_writers(folder); !why.empty()) {
    problems_.push_back("plugin folder " + folder + " is not used: " + why);
    return;
  }
  const auto names = names_in(folder);
  const auto within = folder.ends_with('/') ? folder : folder + "/";
  auto index = index_in(folder);
  for (const auto& name : names) {
    if (name.ends_with(kSuffix)) add_file(within + name, false, index);
  }
  for (const auto& name : names) {
    if (name.ends_with(kManifestSuffix) &&
        !std::binary_search(names.begin(), names.end(), name.substr(0, name.size() - 5)))
      add_manifest(within + name);
  }
}

/// An unusable index is reported as a note, not an error.
ManifestIndex Registry::index_in(const std::string& folder) {
  try {
    return read_index(folder);
  } catch (const Error& e) {
    problems_.emplace_back(e.what());
    return {};
  }
}

/// Adds a plugin that has only a manifest. A build without LibTorch installs such manifests, which
/// state why the plugins are missing.
void Registry::add_manifest(const std::string& file) {
  auto plugin = std::make_unique<Plugin>();
  try {
    plugin->manifest = read_manifest(file);
  } catch (const Error& e) {
    problems_.emplace_back(e.what());
    return;
  }
  if (plugin->manifest.unavailable.empty()) {
    plugin->manifest.unavailable = "its library is missing beside " + file;
    problems_.push_back("manifest " + file + " has no library beside it; it is not used");
  }
  add(std::move(plugin));
}

/// The plugin's manifest, moved out of the index if it is there; empty if it is missing, stale or
/// malformed. `info` describes tmeter's own library.
std::optional<Manifest> Registry::manifest_of(const Plugin& plugin, const struct stat& info,
                                              ManifestIndex& index) {
  const auto file = plugin.library + ".toml";
  const auto library = plugin.file ? plugin.file->path_by_descriptor() : plugin.library;
  const auto stamp = plugin.file ? stamp_of(plugin.file->descriptor()) : stamp_of(info);
  const auto indexed = index.find(std::string_view(file).substr(file.rfind('/') + 1));
  const bool is_current = indexed != index.end() && indexed->second.made_from.size > 0 &&
                          indexed->second.made_from == stamp_of(file);
  std::error_code none;
  if (!is_current && !fs::exists(file, none)) return std::nullopt;
  try {
    auto manifest = is_current ? std::move(indexed->second.manifest) : read_manifest(file);
    if (manifest.schema == kManifestSchema && is_unchanged(manifest.made_from, stamp, library))
      return manifest;
  } catch (const Error& e) {
    problems_.push_back(std::string(e.what()) + "; the plugin itself is described instead");
  }
  return std::nullopt;
}

/// Pins a library, and throws Error(kPlugin) before any of its code runs. Null for tmeter's own,
/// which are opened by path.
std::shared_ptr<const PinnedLibrary> Registry::opened(const std::string& library,
                                                      const struct stat& info) const {
  if (is_own(library) && stamp_of(info).size > 0 && other_writers(info).empty()) return nullptr;
  auto file = std::make_shared<PinnedLibrary>(library);
  if (!settings_.allowed_plugins) return file;
  file->seal();
  const auto& allowed = *settings_.allowed_plugins;
  const auto hash = sha256_of_file(file->path_by_descriptor());
  if (std::find(allowed.begin(), allowed.end(), hash) == allowed.end()) {
    throw Error(ErrorKind::kPlugin,
                "plugin " + library +
                    " is not among those that plugin-sha256 allows; its SHA-256 is " + hash);
  }
  return file;
}

/// A file under another name, or in a folder that is listed twice, is one plugin.
bool Registry::is_duplicate(const struct stat& info) {
  return info.st_ino != 0 && !files_.emplace(info.st_dev, info.st_ino).second;
}

void Registry::add_file(const std::string& library, bool must_work) {
  ManifestIndex none;
  add_file(library, must_work, none);
}

void Registry::add_file(const std::string& library, bool must_work, ManifestIndex& index) {
  auto plugin = std::make_unique<Plugin>();
  plugin->library = library.starts_with('/') ? library : fs::absolute(library).string();
  // One system call for all uses, because a folder has dozens of plugins. All zeros: it is missing.
  struct stat info {};
  if (lstat(plugin->library.c_str(), &info) != 0) info = {};
  plugin->is_link = S_ISLNK(info.st_mode);
  if (plugin->is_link && stat(plugin->library.c_str(), &info) != 0) info = {};
  try {
    plugin->file = opened(plugin->library, info);
    if (is_duplicate(info)) return;
    auto manifest = manifest_of(*plugin, info, index);
    plugin->has_manifest = manifest.has_value();
    if (!manifest && failed_to_open(*plugin)) return add_unopened(std::move(plugin), must_work);
    plugin->manifest =
        manifest ? std::move(*manifest)
                 : describe_in_subprocess(plugin->library, plugin->file.get(),
                                          must_work ? OpenedFor::kRequested : OpenedFor::kFound);
    require_minor(plugin->library, plugin->manifest.abi_minor);
  } catch (const PluginError& e) {
    if (must_work) throw;
    return leave_unopened(std::move(plugin), e.what(), std::string(e.what()) + "; it is left out");
  } catch (const Error& e) {
    if (must_work) throw;
    return leave_unopened(std::move(plugin), e.what(), e.what());
  }
  if (must_work) given_files_.push_back(plugin->manifest.id);
  add(std::move(plugin));
}

/// An unusable plugin found in a folder is reported as a note, not an error.
void Registry::leave_unopened(std::unique_ptr<Plugin> plugin, const std::string& why,
                              const std::string& problem) {
  problems_.push_back(problem);
  plugin->failure = why;
  add_unopened(std::move(plugin), false);
}

const Excluded* Registry::exclusion(const Plugin& p) const {
  const auto it = std::find_if(excluded_.begin(), excluded_.end(), [&](const Excluded& e) {
    if (e.suspected && !p.file) return false;
    return e.plugin == p.library || (!p.manifest.id.empty() && e.plugin == p.manifest.id);
  });
  return it == excluded_.end() ? nullptr : &*it;
}

bool Registry::failed_to_open(const Plugin& p) const {
  const auto* e = exclusion(p);
  return e && !e->opened;
}

/// Adds an unusable plugin under its file name, so that a request for it can be answered with the
/// reason.
void Registry::add_unopened(std::unique_ptr<Plugin> plugin, bool given) {
  plugin->manifest.id = plugin->library;
  plugin->manifest.name = fs::path(plugin->library).stem().string();
  plugin->described = false;
  if (given) given_files_.push_back(plugin->manifest.id);
  add(std::move(plugin));
}

/// If two plugins have one id, the first usable one stays; a note names both.
void Registry::add(std::unique_ptr<Plugin> plugin) {
  if (const auto* e = exclusion(*plugin)) {
    plugin->failure = "plugin " + e->plugin + " " + e->reason;
    if (plugin->started) plugin->started->skip_deinit();
  }
  for (auto& other : plugins_) {
    if (other->manifest.id != plugin->manifest.id) continue;
    std::error_code none;
    if (fs::equivalent(other->library, plugin->library, none)) return;
    if (other->library.empty()) std::swap(other, plugin);
    if (plugin->library.empty()) return;
    problems_.push_back("plugin " + other->manifest.id + " occurs twice: " + other->library +
                        " is used, " + plugin->library + " is not; remove one of them");
    return;
  }
  plugins_.push_back(std::move(plugin));
}

/// Splits keys where the longest plugin name ends, because plugin names may contain dots:
/// [text.table] width is the option "table.width" of plugin "text", like "table.width" in [text].
void Registry::assign_options() {
  for (const auto& [plugin, options] : settings_.options) {
    for (const auto& [key, setting] : options) {
      const auto path = plugin + "." + key;
      auto dot = plugin.size();
      for (auto at = path.rfind('.'); at != 0 && at != path.npos; at = path.rfind('.', at - 1)) {
        if (find_plugin(plugins_, plugin)) break;
        if (!find_plugin(plugins_, path.substr(0, at))) continue;
        dot = at;
        break;
      }
      options_[path.substr(0, dot)][path.substr(dot + 1)] = setting;
    }
  }
}

/// A setting for an unknown plugin is a typing error that would otherwise pass silently.
void Registry::check_setting_names() const {
  for (const auto& [plugin, options] : options_) {
    if (options.empty() || find_plugin(plugins_, plugin)) continue;
    if (options.size() == 1 && options.begin()->second.origin == kOfRuns) continue;
    throw Error(ErrorKind::kUsage, options.begin()->second.origin + ": there is no plugin '" +
                                       plugin + "'" + did_you_mean(plugin, names()));
  }
}

void Registry::leave_out() {
  for (const auto& name : settings_.plugins) {
    if (!name.starts_with("-")) continue;
    auto& plugin = get(name.substr(1));
    std::erase(given_files_, plugin.manifest.id);
    const auto it = std::find_if(plugins_.begin(), plugins_.end(),
                                 [&](const auto& p) { return p.get() == &plugin; });
    left_out_.push_back(std::move(*it));
    plugins_.erase(it);
  }
}

std::vector<std::string> Registry::names() const {
  std::vector<std::string> out;
  for (const auto& p : plugins_) out.push_back(p->manifest.name);
  return out;
}

Plugin& Registry::get(std::string_view name) {
  if (auto* p = find_plugin(plugins_, name)) return *p;
  const bool left_out = find_plugin(left_out_, name) != nullptr;
  throw Error(ErrorKind::kUsage,
              left_out ? "plugin '" + std::string(name) + "' is both requested and left out"
                       : "unknown plugin '" + std::string(name) + "'" +
                             did_you_mean(name, names()) + ". `tmeter plugin list` shows all.");
}

void Registry::start(Plugin& p) const {
  if (p.is_open()) return;
  p.started = start_plugin({p.library, p.file.get(), p.has_manifest}, log_);
  if (!p.failure.empty()) p.started->skip_deinit();
  p.offered = read_capabilities(*p.started);
  check_capabilities(*p.started, p.offered);
}

/// Refuses a manifest that contradicts its library, because tmeter did not write it.
void Registry::require_described(const Plugin& p) {
  if (same_offer(p.manifest, describe(*p.started, p.offered))) return;
  throw Error(ErrorKind::kPlugin, "its manifest " + p.library +
                                      ".toml contradicts it; write a new one with "
                                      "`tmeter plugin manifest`");
}

void Registry::open(Plugin& p) {
  if (p.call.options) return;
  if (p.library.empty()) {
    throw Error(ErrorKind::kPlugin,
                "plugin '" + p.manifest.name + "' is not available: " + p.manifest.unavailable);
  }
  p.call.options = &p.options;
  p.call.plugin_id = p.manifest.id;
  p.call.registry = this;
  Rights declared;
  add_rights(declared, p.manifest.rights);
  p.call.keeps_threads =
      declared.threads || !p.manifest.propagators.empty() || !p.manifest.executors.empty();
  if (failed_to_open(p) || !p.described) return;
  note_code_of(p);
  open_guarded(p.manifest.id, OpenedFor::kRequested, activity().checks_process_state, [&] {
    try {
      start(p);
      require_described(p);
    } catch (const Error& e) {
      const auto& help = p.manifest.when_missing;
      throw PluginError(p.manifest.id, std::string(kWhileOpened),
                        help.empty() ? e.what() : std::string(e.what()) + "; " + help, false);
    }
    return p.call.keeps_threads;
  });
  std::map<std::string, Setting> given;
  for (const auto& name : {p.manifest.id, p.manifest.name}) {
    if (const auto it = options_.find(name); it != options_.end()) {
      for (const auto& [key, setting] : it->second) given[key] = setting;
    }
  }
  auto taken = take_tables(p.offered.option_tables, given);
  p.options =
      resolve_options(p.manifest.name, p.offered.options, taken.flat, p.offered.option_tables);
  p.given = std::move(taken.of_tables);
  p.call.given = &p.given;
}

/// Throws PluginError: either the plugin is at fault, or the user left out a plugin it needs.
Plugin& Registry::needed(const std::string& need, const Plugin& by) const {
  const auto fail = [&](const std::string& why) {
    throw PluginError(by.manifest.id, std::string(kWhileOpened), why);
  };
  try {
    if (auto* p = find_needed(plugins_, need, by)) return *p;
  } catch (const Error& e) {
    fail("it needs plugin '" + need + "', but " + e.what());
  }
  const bool left_out = find_needed(left_out_, need, by) != nullptr;
  fail("it needs plugin '" + need + "', which is " + (left_out ? "left out" : "not installed"));
  std::abort();
}

const ResolvedOptions* Registry::options_of_needed(std::string_view name, std::string_view by) {
  const auto& dependent = get(by);
  const auto& needs = dependent.manifest.needs;
  if (std::find(needs.begin(), needs.end(), name) == needs.end()) return nullptr;
  return &needed(std::string(name), dependent).options;
}

void Registry::visit(Plugin& p, std::vector<Plugin*>& order, std::vector<std::string>& path) {
  if (std::find(order.begin(), order.end(), &p) != order.end()) return;
  if (std::find(path.begin(), path.end(), p.manifest.id) != path.end()) {
    throw PluginError(p.manifest.id, std::string(kWhileOpened),
                      "it and plugin " + path.back() + " depend on each other in a circle");
  }
  path.push_back(p.manifest.id);
  const auto needs = p.failure.empty() ? p.manifest.needs : std::vector<std::string>();
  for (const auto& need : needs) {
    auto& other = needed(need, p);
    visit(other, order, path);
    if (!other.is_open())
      p.failure = "plugin " + p.manifest.id + " needs another one: " + other.failure;
  }
  path.pop_back();
  open(p);
  require_known_metrics(p);
  order.push_back(&p);
}

bool Registry::any_has_metric(std::string_view metric) const {
  const auto has = [&](const std::unique_ptr<Plugin>& p) {
    const auto& metrics = p->manifest.metrics;
    return std::find(metrics.begin(), metrics.end(), metric) != metrics.end();
  };
  return std::any_of(plugins_.begin(), plugins_.end(), has) ||
         std::any_of(left_out_.begin(), left_out_.end(), has);
}

/// Refuses a handler for a metric that no plugin has, because it would never run.
void Registry::require_known_metrics(const Plugin& p) const {
  const auto require = [&](std::string_view metric, const std::string& what) {
    if (any_has_metric(metric)) return;
    std::vector<std::string> all;
    for (const auto* list : {&plugins_, &left_out_}) {
      for (const auto& other : *list)
        all.insert(all.end(), other->manifest.metrics.begin(), other->manifest.metrics.end());
    }
    std::sort(all.begin(), all.end());
    throw PluginError(p.manifest.id, std::string(kWhileOpened),
                      "it " + what + " metric '" + printable(metric) + "', which no plugin has" +
                          did_you_mean(metric, all));
  };
  std::vector<std::string_view> checked;  // a few distinct metrics for hundreds of handlers
  const auto require_handled = [&](std::string_view metric) {
    if (std::find(checked.begin(), checked.end(), metric) != checked.end()) return;
    require(metric, "handles");
    checked.push_back(metric);
  };
  for (const auto& h : p.offers().op_handlers) require_handled(view(h.metric));
  for (const auto& h : p.offers().module_handlers) require_handled(view(h.metric));
  for (const auto& h : p.offers().module_handlers)
    for (const auto& metric : split(view(h.follows), " ")) require(metric, "follows");
}

std::vector<Plugin*> Registry::open_with_needs(const std::vector<std::string>& ids) {
  std::vector<Plugin*> order;
  std::vector<std::string> path;
  for (const auto& id : ids) visit(get(id), order, path);
  return order;
}

}  // namespace tmeter::core
