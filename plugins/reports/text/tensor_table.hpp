// The table of tensors: what is known of the numbers inside them. One row per tensor, the heaviest
// first, under a row for the model as a whole; histograms as sparklines.
#pragma once
#include <cstdint>
#include <string>
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "columns.hpp"
#include "layout.hpp"

namespace text_report {

/// Whether there is anything to show: a metric of tensors, or the user asked for this table.
bool has_tensor_table(const tmeter::Report& report, const Columns& columns, const View& view);

struct TensorTable {
  Table table;        // first the elements, then Columns::of_tensors, then the histogram if any
  size_t hidden = 0;  // tensors without a row
};

/// With --by tensor all tensors, else those that matter most, about half a screen of them.
TensorTable tensor_table(const tmeter::Report& report, const Columns& columns, const View& view);

/// Counts as blocks of eight heights, `width` columns wide; any count above 0 shows.
std::string sparkline(const std::vector<uint64_t>& counts, size_t width);

}  // namespace text_report
