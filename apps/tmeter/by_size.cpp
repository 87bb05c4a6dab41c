#include "apps/tmeter/by_size.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace tmeter::app {
namespace {
using namespace core;

/// Metrics that are shown: without --columns all but details.
bool is_shown(const CommandLine& line, const Column& column) {
  const auto it = line.view.find("columns");
  if (it == line.view.end()) return (column.flags & TMETER_METRIC_DETAIL) == 0;
  const auto ids = split(it->second, ",");
  return std::any_of(ids.begin(), ids.end(),
                     [&](const auto& id) { return id == "all" || id == column.id; });
}

}  // namespace

void add_sizes(Report& report, const CommandLine& line, Graph& graph,
               const std::vector<Plugin*>& plugins, const HardwareSource& hardware) {
  if (graph.symbols().empty()) return;
  std::set<size_t> bound;
  for (const auto& [symbol, value] : line.bindings) bound.insert(graph.find_symbol(symbol));
  report.formulas = find_formulas(graph, {plugins, &hardware, report.results, bound,
                                          [&](const Column& c) { return is_shown(line, c); }});
  run_sweep(graph, report.sweep, plugins, &hardware);
}

}  // namespace tmeter::app
