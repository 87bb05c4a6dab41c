// A model that a plugin has prepared for runs, and its runs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/execution/run_event_validator.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/plugin_host/runs_access.hpp"

namespace tmeter::core {

/// How to run the model.
struct RunOptions {
  std::string device = "cpu";
  unsigned threads = 1;
  uint64_t seed = 0;
  double seconds = 10;  // seconds for all runs together; each requested kind runs at least once
  uint64_t memory = 0;
  std::vector<std::pair<std::string, std::string>> inputs;  // name (or empty) → file
  std::vector<std::string> libraries;
};

/// Owns the plugin's state and releases it at the end of its life.
class Executor {
 public:
  /// The first plugin that can run the graph. Throws Error(kRun) if no plugin can, Error(kUsage)
  /// for options that cannot be met.
  Executor(Registry& registry, const Graph& graph, const RunOptions& options,
           const RunContext& context);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Throws the exceptions of `invoke`.
  void run(int32_t kind, unsigned threads, const RunEventValidator& validator);
  const Plugin& plugin() const { return *plugin_; }
  std::string_view name() const;

 private:
  bool prepare(Plugin& plugin, const Graph& graph, const RunContext& context);

  std::vector<tmeter_input_file> inputs_;
  std::vector<tmeter_str> libraries_;
  tmeter_run_request request_{};
  Plugin* plugin_ = nullptr;
  tmeter_call call_;  // a separate call, because the plugin may be an observer, too
  const tmeter_executor* executor_ = nullptr;
  void* state_ = nullptr;
};

}  // namespace tmeter::core
