// The user's configuration: the command line overrides a configuration file. Plugin options are
// kept as text here; the plugin host checks them against the plugin's declarations.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/hardware.hpp"

namespace tmeter::core {

/// Origin of a setting that --inference makes for a plugin; it is ignored if the plugin is missing.
inline constexpr std::string_view kOfRuns = "--inference";

struct Setting {
  std::string value;
  std::string origin{};  // "--set flops.convention=torch" or "tmeter.toml:3:1"
  bool list = false;     // its items joined by ", "
  // The first character of a text that is in the file verbatim (without escapes, on one line);
  std::string file{};
  uint32_t line = 0, column = 0;  // 0: another text

  /// The place of byte `offset` of the value: "tmeter.toml:3:14", "tmeter.toml:3:1, character 5".
  std::string place(size_t offset) const;
};

struct Settings {
  std::vector<std::string> plugins;       // empty: the default set
  std::vector<std::string> plugin_files;  // --plugin
  std::vector<std::string> plugin_paths;  // --plugin-path
  std::vector<std::string> reports;       // "json=out.json"
  bool full = false;                      // every plugin that applies
  /// SHA-256 of the permitted libraries in addition to tmeter's own; not set: all are permitted.
  std::optional<std::vector<std::string>> allowed_plugins;
  std::string hardware;  // name or file, or "auto"; empty: the default profile
  std::optional<HardwareProfile> measured_hardware;  // of "auto", once it is measured
  /// [plugin name or id][option key]; keys of nested tables are joined by '.'.
  std::map<std::string, std::map<std::string, Setting>> options;
};

/// Reads a configuration file. Throws Error(kUsage) with file, line and column.
Settings read_settings(const std::string& path);

/// Adds "flops.convention=torch" as given to --set. Throws Error(kUsage).
void add_set_option(Settings& settings, const std::string& text);

}  // namespace tmeter::core
