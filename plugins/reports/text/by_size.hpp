// What depends on the sizes of a model with dynamic shapes: formulas, and the table of a sweep.
#pragma once
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "columns.hpp"
#include "layout.hpp"
#include "style.hpp"

namespace text_report {

bool has_sweep(const tmeter::Report& report);

/// What the table of a sweep shows: the columns' metrics and facts, without those that no size can
/// change (parameters) unless they were asked for.
std::vector<tmeter::Metric> sweep_metrics(const Columns& columns, const View& view);

/// One row per point: first the symbols' values, then the totals of `metrics`.
Table sweep_table(const tmeter::Report& report, const std::vector<tmeter::Metric>& metrics,
                  bool raw);

/// "by size, with s77 = x.0 (2 … 64):" and "  MACs = 2,048·s77" for each column; no lines without
/// formulas.
std::vector<Text> formula_lines(const tmeter::Report& report, const Columns& columns, bool raw,
                                size_t width);

}  // namespace text_report
