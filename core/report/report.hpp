// The report document: everything a writer may show, gathered once the analysis is done.
#pragma once
#include <tmeter/abi/report.h>

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/assertion.hpp"
#include "core/analysis/results.hpp"
#include "core/base/outlet.hpp"
#include "core/ir/graph.hpp"
#include "core/structure/structure.hpp"
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

/// What a report has that is compared with another one (core/comparison).
struct Comparison {
  const Report* before = nullptr;  // null: it is not
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
  /// How to show it: "by", "depth", "columns", "sort", "raw", "repr", "no-fold".
  std::map<std::string, std::string, std::less<>> view;
  std::vector<std::string> warnings;
  Comparison comparison;
  std::vector<std::pair<std::string, std::string>> config;   // "flops.convention" → "torch"
  std::vector<std::pair<std::string, std::string>> plugins;  // id → version

  /// Of how the model was run: the property "run.KEY", and KEY in the property "runs".
  void tell_run_fact(const std::string& key, std::string_view text) {
    properties["run." + key] = text;
    auto& keys = properties["runs"];
    keys += (keys.empty() ? "" : " ") + key;
  }

  /// Writers may ask from several threads.
  const Structure& structure() const {
    std::call_once(*structure_asked_, [this] {
      if (!structure_)
        structure_ =
            std::make_unique<Structure>(coming_.valid() ? coming_.get() : Structure(*graph));
    });
    return *structure_;
  }
  /// Lets another thread work it out meanwhile, where one can be had. For a graph whose sizes stay
  /// as they are.
  void prepare_structure() {
    coming_ = std::async([g = graph] { return Structure(*g); });
  }
  /// Instead of working it out: as a saved report tells it.
  void tell_structure(Structure told) { structure_ = std::make_unique<Structure>(std::move(told)); }

 private:
  std::unique_ptr<std::once_flag> structure_asked_ = std::make_unique<std::once_flag>();
  mutable std::unique_ptr<Structure> structure_;
  mutable std::future<Structure> coming_;
};

/// Where a writer's bytes go, in pieces, and what it may know about the destination.
class OutputStream {
 public:
  OutputStream(Outlet& outlet, size_t target, bool color, int columns)
      : outlet_(&outlet), target_(target), color_(color), columns_(columns) {}
  void write(std::string_view bytes);
  void flush();
  bool color() const { return color_; }
  int columns() const { return columns_; }  ///< terminal width, 0 for other destinations
  /// It has not ended, and this is the thread it was made for.
  bool may_be_used() const { return mark_.is_there() && pthread_equal(thread_, pthread_self()); }

 private:
  Outlet* outlet_;
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
