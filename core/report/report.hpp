// The report document: all data for writers, collected after the analysis.
#pragma once
#include <tmeter/abi/report.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/assertion.hpp"
#include "core/analysis/results.hpp"
#include "core/base/host_sink.hpp"
#include "core/ir/graph.hpp"
#include "core/module_description/module_description.hpp"
#include "core/symbolic/formulas.hpp"
#include "core/symbolic/sweep.hpp"

namespace tmeter::core {

struct Report;

/// A pair of matched modules; SIZE_MAX without a match.
struct ModulePair {
  size_t before = SIZE_MAX, after = SIZE_MAX;
  size_t depth = 0;
  uint32_t flags = 0;  // TMETER_PAIR_…
};

/// The comparison with another report (core/comparison).
struct Comparison {
  const Report* before = nullptr;  // null: no comparison
  std::vector<ModulePair> pairs;   // the tree, in pre-order
  std::vector<std::string> notes;
};

struct Report {
  const Graph* graph = nullptr;
  Results results;
  Formulas formulas;
  Sweep sweep;
  std::vector<AssertionResult> assertions;
  /// "tool.version", "model.file", "model.size", "analysis.seconds", "hardware", "command",
  /// "sizes".
  std::map<std::string, std::string, std::less<>> properties;
  /// Options of the display: "by", "depth", "columns", "sort", "raw", "repr", "no-fold".
  std::map<std::string, std::string, std::less<>> view;
  std::vector<std::string> warnings;
  Comparison comparison;
  std::vector<std::pair<std::string, std::string>> config;   // "flops.convention" → "torch"
  std::vector<std::pair<std::string, std::string>> plugins;  // id → version

  /// A property of the model's runs: "run.KEY"; KEY is added to the property "runs".
  void add_run_property(const std::string& key, std::string_view text) {
    properties["run." + key] = text;
    auto& keys = properties["runs"];
    keys += (keys.empty() ? "" : " ") + key;
  }

  /// May be called from several threads.
  const ModuleDescriptions& module_descriptions() const {
    std::call_once(*descriptions_once_, [this] {
      if (!descriptions_) descriptions_ = std::make_unique<ModuleDescriptions>(*graph);
    });
    return *descriptions_;
  }
  /// Replaces computed descriptions with those of a saved report.
  void set_module_descriptions(ModuleDescriptions descriptions) {
    descriptions_ = std::make_unique<ModuleDescriptions>(std::move(descriptions));
  }

 private:
  std::unique_ptr<std::once_flag> descriptions_once_ = std::make_unique<std::once_flag>();
  mutable std::unique_ptr<ModuleDescriptions> descriptions_;
};

/// Receives a writer's bytes in pieces, and describes their destination.
class OutputStream {
 public:
  OutputStream(HostSink& sink, size_t target, bool color, int columns)
      : sink_(&sink), target_(target), color_(color), columns_(columns) {}
  void write(std::string_view bytes);
  void flush();
  bool color() const { return color_; }
  int columns() const { return columns_; }  ///< terminal width, 0 for other destinations
  /// Whether it has not ended, and this is its thread.
  bool may_be_used() const { return mark_.is_there() && pthread_equal(thread_, pthread_self()); }

 private:
  HostSink* sink_;
  size_t target_;
  bool color_;
  int columns_;
  std::string pending_;
  pthread_t thread_ = pthread_self();
  LiveMark mark_;
};

/// Adds tmeter.host.report/1, tmeter.host.output/1 and tmeter.host.comparison/0.1.
void add_report_interfaces();

const void* comparison_interface();  // tmeter_comparison_api

const tmeter_report* to_handle(const Report* report);
tmeter_output* to_handle(OutputStream* output);

}  // namespace tmeter::core
