// `--sweep`: the totals of a model under several sizes of one or two symbols.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/results.hpp"
#include "core/ir/graph.hpp"
#include "core/plugin_host/registry.hpp"

namespace tmeter::core {

inline constexpr size_t kMaxSweepPoints = 10'000;

/// A symbol, by name or place, and the values it takes.
using SweepAxis = std::pair<std::string, std::vector<int64_t>>;

struct Sweep {
  std::vector<int64_t> symbols;                    // by index in the graph; empty: no sweep
  std::vector<std::vector<int64_t>> points;        // one value per symbol; the last varies fastest
  std::vector<std::vector<tmeter_number>> totals;  // per point, by column of the results
  /// Warning about points at which the program's conditions do not hold, or empty.
  std::string warning;
};

/// Lists the points. Throws Error(kUsage) for symbols that do not exist, are bound
/// (`bindings`) or come twice, for values outside the declared range or given twice, and for more
/// than kMaxSweepPoints.
Sweep plan_sweep(const Graph& graph, const std::vector<SweepAxis>& axes,
                 const std::vector<std::pair<std::string, int64_t>>& bindings);

/// Fills in the totals and restores the graph. Throws Error(kUsage) naming the point if it makes a
/// dimension invalid.
void run_sweep(Graph& graph, Sweep& sweep, const std::vector<Plugin*>& plugins,
               const HardwareSource* hardware);

}  // namespace tmeter::core
