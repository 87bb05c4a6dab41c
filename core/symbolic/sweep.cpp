#include "core/symbolic/sweep.hpp"

#include <algorithm>
#include <set>

#include "core/analysis/engine.hpp"
#include "core/analysis/size_notes.hpp"
#include "core/analysis/size_overrides.hpp"

namespace tmeter::core {
namespace {

constexpr size_t kMaxSweptSymbols = 2;

[[noreturn]] void refuse(const std::string& axis, const std::string& what) {
  throw Error(ErrorKind::kUsage, "--sweep " + axis + ": " + what);
}

void check_values(const Graph& graph, size_t symbol, const SweepAxis& axis) {
  std::set<int64_t> seen;
  for (const auto v : axis.second) {
    graph.require_in_range(symbol, v, "--sweep");
    if (!seen.insert(v).second) refuse(axis.first, std::to_string(v) + " is given twice");
  }
}

std::string point_text(const Graph& graph, const Sweep& sweep, size_t point) {
  std::string out;
  for (size_t i = 0; i < sweep.symbols.size(); ++i) {
    const auto& s = graph.symbols()[static_cast<size_t>(sweep.symbols[i])];
    out += (i ? ", " : "") + std::string(s.name) + "=" + std::to_string(sweep.points[point][i]);
  }
  return out;
}

/// Combines each point so far with each value.
std::vector<std::vector<int64_t>> product(const std::vector<std::vector<int64_t>>& points,
                                          const std::vector<int64_t>& values) {
  std::vector<std::vector<int64_t>> out;
  for (const auto& p : points) {
    for (const auto v : values) {
      out.push_back(p);
      out.back().push_back(v);
    }
  }
  return out;
}

std::vector<tmeter_number> totals_of(const Results& results) {
  std::vector<tmeter_number> out;
  for (const auto& c : results.columns) out.push_back(c.cell(TMETER_AXIS_MODEL, 0));
  return out;
}

}  // namespace

Sweep plan_sweep(const Graph& graph, const std::vector<SweepAxis>& axes,
                 const std::vector<std::pair<std::string, int64_t>>& bindings) {
  Sweep sweep;
  if (axes.empty()) return sweep;
  if (graph.symbols().empty()) {
    refuse(axes.front().first,
           "all sizes of this model are fixed; export it with dynamic_shapes (torch.export) to "
           "sweep over them");
  }
  if (axes.size() > kMaxSweptSymbols) {
    refuse(axes[kMaxSweptSymbols].first, "at most " + std::to_string(kMaxSweptSymbols) +
                                             " symbols can be swept; fix others with --bind");
  }
  sweep.points = {{}};
  for (const auto& axis : axes) {
    const size_t symbol = graph.find_symbol(axis.first);
    const auto same = [&](const auto& b) { return graph.find_symbol(b.first) == symbol; };
    if (std::any_of(bindings.begin(), bindings.end(), same))
      refuse(axis.first, "this symbol is fixed with --bind; leave one out");
    if (std::find(sweep.symbols.begin(), sweep.symbols.end(), symbol) != sweep.symbols.end())
      refuse(axis.first, "this symbol is swept twice; give all its values in one --sweep");
    check_values(graph, symbol, axis);
    if (sweep.points.size() * axis.second.size() > kMaxSweepPoints) {
      refuse(axis.first, std::to_string(sweep.points.size() * axis.second.size()) +
                             " points are more than the " + std::to_string(kMaxSweepPoints) +
                             " that are accepted");
    }
    sweep.symbols.push_back(static_cast<int64_t>(symbol));
    sweep.points = product(sweep.points, axis.second);
  }
  return sweep;
}

void run_sweep(Graph& graph, Sweep& sweep, const std::vector<Plugin*>& plugins,
               const HardwareSource* hardware) {
  SizeOverrides sizes(graph);
  const auto mark_given = [&](bool given) {
    for (const auto s : sweep.symbols) graph.mark_given(static_cast<size_t>(s), given);
  };
  mark_given(true);
  size_t unmet = 0;
  for (size_t p = 0; p < sweep.points.size(); ++p) {
    for (size_t i = 0; i < sweep.symbols.size(); ++i)
      sizes.set(static_cast<size_t>(sweep.symbols[i]), sweep.points[p][i]);
    try {
      sizes.apply();
      if (auto note = unmet_conditions_note(graph); !note.empty() && unmet++ == 0)
        sweep.warning = "--sweep " + point_text(graph, sweep, p) + ": " + note;
      CallLog log(-1);  // the report's own run gives the warnings
      sweep.totals.push_back(totals_of(Engine(graph, plugins, log, hardware).run()));
    } catch (const PluginError& e) {
      throw e.placed(", with --sweep " + point_text(graph, sweep, p));
    } catch (const Error& e) {
      const auto kind = e.kind() == ErrorKind::kModel ? ErrorKind::kUsage : e.kind();
      throw Error(kind, "--sweep " + point_text(graph, sweep, p) + ": " + e.what());
    }
  }
  if (unmet > 1)
    sweep.warning += "; likewise at " + std::to_string(unmet - 1) + " of the other points";
  mark_given(false);
}

}  // namespace tmeter::core
