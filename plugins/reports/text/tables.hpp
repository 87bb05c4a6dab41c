// The tables other than the tree: the points of a sweep with their formulas, and the tensors.
#pragma once
#include <cstdint>
#include <string>
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "columns.hpp"

namespace text_report {

bool has_sweep(const tmeter::Report& report);

/// The metrics of a sweep's table: columns and facts, without those that do not depend on sizes
/// (parameters) unless the user requested them.
std::vector<tmeter::Metric> sweep_metrics(const Columns& columns, const View& view);

/// One row per point: first the symbols' values, then the totals of `metrics`.
Table sweep_table(const tmeter::Report& report, const std::vector<tmeter::Metric>& metrics,
                  bool raw);

/// "by size, with s77 = x.0 (2 … 64):" and "  MACs = 2,048·s77" for each column; empty without
/// formulas.
std::vector<Text> formula_lines(const tmeter::Report& report, const Columns& columns, bool raw,
                                size_t width);

/// Metrics that add up, as bars with their legends, each at most `width` wide.
std::vector<Text> stack_lines(const tmeter::Report& report, size_t width);

/// Curves that differ in a number, as tables: one row for each x, one column for each curve.
std::vector<Text> curve_tables(const tmeter::Report& report, const Look& look, size_t width);

// The table of tensors: statistics of their elements. One row per tensor, the largest first, below
// a row for the model; histograms as sparklines.

/// Whether the report has a metric of tensors, or this table is requested.
bool has_tensor_table(const tmeter::Report& report, const Columns& columns, const View& view);

struct TensorTable {
  Table table;        // first the elements, then Columns::of_tensors, then the histogram if any
  size_t hidden = 0;  // tensors without a row
};

/// All tensors with --by tensor, else the first ones, about half a screen.
TensorTable tensor_table(const tmeter::Report& report, const Columns& columns, const View& view);

/// Counts as blocks of eight heights, `width` columns wide; any count above 0 is visible.
std::string sparkline(const std::vector<uint64_t>& counts, size_t width);

}  // namespace text_report
