#include "core/report/part_report.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "core/analysis/columns.hpp"

namespace tmeter::core {
namespace {

/// For each axis, the index in the whole of each row of the part; null for the model.
using Rows = std::array<const std::vector<size_t>*, kAxisCount>;

Rows rows_of(const GraphPart& part) {
  Rows rows{};
  rows[TMETER_AXIS_NODE] = &part.nodes;
  rows[TMETER_AXIS_MODULE] = &part.modules;
  rows[TMETER_AXIS_MODULE_CALL] = &part.calls;
  rows[TMETER_AXIS_TENSOR] = &part.tensors;
  return rows;
}

/// The index in the part of a row of the whole.
class Places {
 public:
  explicit Places(const GraphPart& part) {
    const auto rows = rows_of(part);
    for (size_t axis = 0; axis < rows.size(); ++axis)
      for (size_t i = 0; rows[axis] && i < rows[axis]->size(); ++i)
        places_[axis].emplace((*rows[axis])[i], i);
  }
  /// False if it is outside.
  bool move(tmeter_target& t) const {
    if (t.axis < 0 || t.axis >= static_cast<int32_t>(kAxisCount)) return false;
    const auto& of_axis = places_[static_cast<size_t>(t.axis)];
    const auto at = of_axis.find(t.index);
    if (at == of_axis.end()) return false;
    t.index = at->second;
    return true;
  }

 private:
  std::array<std::unordered_map<size_t, size_t>, kAxisCount> places_;
};

/// Shares of the whole become shares of the part.
void rescale(Cells& cells, double whole) {
  for (size_t i = 0; i < cells.size(); ++i) {
    auto n = cells[i];
    if (n.kind != TMETER_NUMBER_FLOAT) continue;
    n.f /= whole;
    cells.set(i, n);
  }
}

void keep(Column& column, const GraphPart& part) {
  const auto rows = rows_of(part);
  const auto total = column.cell(TMETER_AXIS_MODULE, part.modules.front());
  for (size_t axis = 0; axis < kAxisCount; ++axis) {
    auto& cells = column.cells[axis];
    if (!rows[axis] || cells.empty()) continue;
    Cells kept;
    kept.resize(rows[axis]->size());
    for (size_t i = 0; i < rows[axis]->size(); ++i)
      if ((*rows[axis])[i] < cells.size()) kept.set(i, cells[(*rows[axis])[i]]);
    cells = std::move(kept);
  }
  column.cells[TMETER_AXIS_MODEL] = {total};
  const bool is_share =
      column.unit_kind == TMETER_UNIT_RATIO && column.aggregation == TMETER_AGGREGATE_SUM;
  if (is_share && is_number(total) && real(total) > 0)
    for (auto& cells : column.cells) rescale(cells, real(total));
  if (column.axis != TMETER_AXIS_MODEL || total.kind != TMETER_NUMBER_NONE ||
      column.provenance == TMETER_PROVENANCE_UNAVAILABLE)
    return;
  column.provenance = TMETER_PROVENANCE_UNAVAILABLE;
  column.provenance_text = "only the whole model has it";
}

/// Keeps the absolute difference of each change, and takes its start from the part's total.
void move_changes(Finding& finding, const Results& results) {
  std::vector<tmeter_change> moved;
  for (auto change : finding.changes) {
    const auto* column = results.find({change.metric.ptr, change.metric.len});
    const auto total = column ? column->cell(TMETER_AXIS_MODEL, 0) : tmeter_number{};
    if (!is_known(total)) continue;
    change.to += real(total) - change.from;
    change.from = real(total);
    moved.push_back(change);
  }
  finding.changes = std::move(moved);
}

/// Returns the number of dropped findings.
size_t keep_findings(Results& results, const Places& places) {
  const auto all = results.findings.size();
  std::erase_if(results.findings, [&](Finding& f) {
    return f.targets.empty() || !std::all_of(f.targets.begin(), f.targets.end(),
                                             [&](auto& t) { return places.move(t); });
  });
  for (auto& f : results.findings) move_changes(f, results);
  return all - results.findings.size();
}

ModuleDescriptions described(const ModuleDescriptions& whole, const GraphPart& part) {
  ModuleDescriptions kept;
  for (const auto module : part.modules) {
    for (size_t i = 0; i < kept.texts.size(); ++i)
      kept.texts[i].push_back(module < whole.texts[i].size() ? whole.texts[i][module] : "");
    kept.repeats.push_back(module < whole.repeats.size() ? whole.repeats[module] : Repeat{});
  }
  kept.repeats.front() = {};
  return kept;
}

}  // namespace

void restrict_to_part(Report& report, const GraphPart& part) {
  auto descriptions = described(report.module_descriptions(), part);
  const Places places(part);
  auto& results = report.results;
  for (auto& column : results.columns) keep(column, part);
  const auto dropped = keep_findings(results, places);
  std::erase_if(results.distributions, [&](auto& d) { return !places.move(d.of); });
  std::erase_if(results.series, [&](auto& s) { return !places.move(s.of); });
  std::erase_if(report.formulas.list, [&](Formula& f) {
    tmeter_target module{TMETER_AXIS_MODULE, 0, f.module};
    if (f.module == 0 || !places.move(module)) return true;
    f.module = module.index;
    return false;
  });
  report.assertions.clear();
  if (!report.sweep.points.empty())
    report.warnings.emplace_back("the sweep is about the whole model and is left out here");
  report.sweep = {};
  if (dropped > 0)
    report.warnings.push_back(std::to_string(dropped) +
                              (dropped == 1 ? " finding is" : " findings are") +
                              " about more than this part, and left out");
  report.graph = part.graph.get();
  report.set_module_descriptions(std::move(descriptions));
  results.coverage = coverage_of(results.columns, *part.graph);
}

}  // namespace tmeter::core
