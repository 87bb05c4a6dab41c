// The report as a table, row by row, by --by, --depth and --sweep. Rows are not stored:
// memory does not grow with the number of operators.
//
//   --by module    id, path, type, calls            the tree in pre-order; the root has the totals
//   --by operator  operator, calls                  --depth 2: index, operator, overload, module,
//                                                   location, result: every call
//                  then module types and calls whose value a plugin gives as a whole
//   --by type      type, modules                    --depth 2: id, path, type: every module
//   --by family    family, layers                  Convolution, Linear, …, Other
//   --by tensor    name, kind, dtype, shape, elements, trainable, tied_to
//   a sweep        the symbols                      a row per point
#pragma once
#include <functional>
#include <string>
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "cells.hpp"

namespace reports {

struct Row {
  std::vector<std::string> words;  // one per title
  std::vector<Cell> cells;         // one per metric
};

struct RowOptions {
  bool leading_dot = false;  // of module paths: ".layer1.0"
  // Replaces --by and --depth; empty: the user's. A sweep is shown only without `by`.
  std::string_view by{}, depth{};
};

/// The titles of the text columns.
std::vector<std::string> row_titles(const tmeter::Report& report, const RowOptions& options = {});

/// Throws tmeter::Error(TMETER_BAD_USAGE) for an invalid --by or --depth.
void for_each_row(const tmeter::Report& report, const std::vector<tmeter::Metric>& metrics,
                  const RowOptions& options, const std::function<void(const Row&)>& put);

}  // namespace reports
