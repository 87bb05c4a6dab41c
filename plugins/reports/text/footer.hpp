// Can it be trusted: exact totals, coverage, conventions, provenance, warnings. The lines below the
// table.
#pragma once
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "columns.hpp"
#include "style.hpp"
#include "tree.hpp"
#include "view.hpp"

namespace text_report {

/// What the table does not show.
struct Omissions {
  std::vector<tmeter::Metric> no_room;
  std::vector<size_t> no_figures;  // by index into Columns::shown
  size_t width = 0;                // there was
};

std::vector<Text> footer(const tmeter::Report& report, const Columns& columns, const Tree& tree,
                         const Omissions& omissions, const View& view, size_t width);

}  // namespace text_report
