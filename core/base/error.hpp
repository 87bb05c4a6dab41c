// The error type of the host: a stable kind, and a sentence with the defect, its place
// and the remedy. Thrown inside, caught once per subcommand, which turns the kind into the exit
// status of docs/command-line.md.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

namespace tmeter::core {

enum class ErrorKind {
  kInternal = 1,       ///< a defect of tmeter
  kUsage = 2,          ///< wrong options
  kAssertion = 3,      ///< an --assert does not hold
  kModel = 4,          ///< the model cannot be read
  kPlugin = 5,         ///< a plugin failed or cannot be opened
  kRun = 6,            ///< the model could not be run
  kInterrupted = 130,  ///< Ctrl-C; the status that shells use
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }
  int exit_status() const { return static_cast<int>(kind_); }

 private:
  ErrorKind kind_;
};

/// A plugin failed. The supervisor leaves it out and repeats the run without it
/// (core/process/supervisor.hpp). "plugin com.acme.layers failed on metric 'macs': no bias"
class PluginError : public Error {
 public:
  /// `plugin` is empty when the plugin at fault is unknown. `opened`: false when it failed before
  /// its tables could be read. `requested`: false when the user did not request it, because it was
  /// only found in a plugin folder.
  PluginError(std::string plugin, std::string doing, std::string text, bool opened = true,
              bool requested = true)
      : Error(ErrorKind::kPlugin,
              (plugin.empty() ? "a plugin" : "plugin " + plugin) + " " + words(doing, text)),
        plugin_(std::move(plugin)),
        doing_(std::move(doing)),
        text_(std::move(text)),
        opened_(opened),
        requested_(requested) {}
  /// A plugin whose code ended its process. `reason`: "crashed (abort) while it was opened".
  static PluginError ended(std::string plugin, std::string reason, bool requested) {
    return {Ended(), std::move(plugin), std::move(reason), requested};
  }
  const std::string& plugin() const { return plugin_; }
  bool opened() const { return opened_; }
  bool requested() const { return requested_; }
  /// "failed on metric 'macs': no bias"
  std::string reason() const { return doing_.empty() ? text_ : words(doing_, text_); }
  /// The same error with a place added: " on node 3 (aten::conv2d)".
  PluginError placed(const std::string& where) const {
    return {plugin_, doing_ + where, text_, opened_, requested_};
  }

 private:
  struct Ended {};
  PluginError(Ended, std::string plugin, std::string reason, bool requested)
      : Error(ErrorKind::kPlugin, "plugin " + plugin + " " + reason),
        plugin_(std::move(plugin)),
        text_(std::move(reason)),
        opened_(false),
        requested_(requested) {}
  static std::string words(const std::string& doing, const std::string& text) {
    return "failed " + doing + ": " + text;
  }
  std::string plugin_, doing_, text_;
  bool opened_, requested_;
};

}  // namespace tmeter::core
