// The report document: everything a writer may show, gathered once the analysis is done.
#pragma once
#include <tmeter/abi/report.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/assertion.hpp"
#include "core/analysis/formulas.hpp"
#include "core/analysis/results.hpp"
#include "core/analysis/sweep.hpp"
#include "core/ir/graph.hpp"
#include "core/report/structure.hpp"

namespace tmeter::core {

struct Report {
  const Graph* graph = nullptr;
  Results results;
  Formulas formulas;
  Sweep sweep;
  std::vector<AssertionResult> assertions;
  /// "tool.version", "model.file", "model.size", "analysis.seconds", "hardware", "command".
  std::map<std::string, std::string, std::less<>> properties;
  /// How to show it: "by", "depth", "columns", "sort", "raw", "repr", "no-fold".
  std::map<std::string, std::string, std::less<>> view;
  std::vector<std::string> warnings;
  std::vector<std::pair<std::string, std::string>> config;   // "flops.convention" → "torch"
  std::vector<std::pair<std::string, std::string>> plugins;  // id → version

  const Structure& structure() const {
    if (!structure_) structure_ = std::make_unique<Structure>(*graph);
    return *structure_;
  }

 private:
  mutable std::unique_ptr<Structure> structure_;  // writers run one after the other
};

/// Where a writer's bytes are collected, and what it may know about the destination.
struct OutputBuffer {
  std::string bytes;
  bool color = false;
  int columns = 0;  // terminal width, 0 when the destination is none
};

/// Adds tmeter.host.report/1 and tmeter.host.output/1.
void add_report_interfaces();

const tmeter_report* to_handle(const Report* report);
tmeter_output* to_handle(OutputBuffer* output);

}  // namespace tmeter::core
