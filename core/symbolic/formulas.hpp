// Formulas of a model with dynamic shapes: totals and module values as polynomials in the free
// symbols, for metrics that are such polynomials.
#pragma once
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/analysis/results.hpp"
#include "core/ir/graph.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/symbolic/fit.hpp"

namespace tmeter::core {

struct Formula {
  size_t metric = 0;     // index of the column
  size_t module = 0;     // 0, the root: the model's total
  bool partial = false;  // a lower bound: it contains operators without a rule
  Polynomial polynomial;
  std::string text;
};

struct Formulas {
  /// The free symbols, by index in the graph; terms have one power for each.
  std::vector<int64_t> symbols;
  std::vector<Formula> list;  // by metric, then module; none is zero. A peak has one for each piece
  std::string problem;        // the reason why formulas are missing despite dynamic sizes, or empty
};

struct FormulaRequest {
  const std::vector<Plugin*>& plugins;
  const HardwareSource* hardware;
  const Results& results;  // results under the present sizes, which every formula must reproduce
  const std::set<size_t>& fixed;                // symbols that are not free: bound by the user
  std::function<bool(const Column&)> includes;  // metrics
};

/// Metrics must be wanted, computed and integers: sums over nodes, or bytes of the model. The graph
/// is evaluated at a few dozen other sizes and then as before.
Formulas find_formulas(Graph& graph, const FormulaRequest& request);

}  // namespace tmeter::core
