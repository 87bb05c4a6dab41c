// The requested view (--by, --depth, --columns, --sort, --raw), the columns that
// follow from it, and the text of one cell. Columns are chosen by descriptors: no metric is known
// by name.
#pragma once
#include <optional>
#include <string>
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "../common/cells.hpp"
#include "look/look.hpp"

namespace text_report {

enum class By { kModule, kOperator, kType, kFamily, kTensor };

struct View {
  By by = By::kModule;
  std::optional<size_t> depth;                      // none: chosen by the number of rows
  std::optional<std::vector<std::string>> columns;  // none: by Look::columns_by_default
  std::optional<size_t> deepest;                    // levels shown at most, if `depth` does not say
  std::string sort;                                 // metric id; empty: as in the model
  bool fold = true;                                 // draw identical siblings once
  size_t fold_from = 2;                             // repetitions, at least
  bool repr = false;                                // modules as PyTorch prints them
  bool all_notes = false;  // the convention of every metric, not only those that options change
  bool no_notes = false;   // no conventions
  /// --full: one column of each plugin, its totals on a line, findings by name.
  bool summary = false;
  bool raw = false;  // plain numbers: no scaling, no abbreviation
};

/// Throws tmeter::Error(TMETER_BAD_USAGE) with the option and its accepted values.
View read_view(const tmeter::Report& report);

// The metrics that are columns of the table, those that are facts of the model, and the one that
// the bars show.

struct Columns {
  std::vector<std::string> facts_of_modules;  // "kernel_size": columns of text, before the values
  std::vector<tmeter::Metric> shown;          // columns, in the order of the report or of --columns
  std::vector<tmeter::Metric> totals;         // totals below the table: `shown`, or a separate list
  std::vector<tmeter::Metric> cells;          // `shown`, then metrics that only labels use
  std::vector<tmeter::Metric> of_tensors;     // columns of the table of tensors
  std::vector<tmeter::Metric> facts;          // values of the whole model, shown below the table
  std::vector<tmeter::Metric> unavailable;    // requested, but not available
  std::vector<std::string> brief_plugins;     // plugins whose metrics the built-in lists choose
  std::optional<size_t> bar;                  // index into `shown`
  std::optional<size_t> sort;                 // index into `shown`
  std::optional<size_t> sort_of_tensors;      // index into `of_tensors`
};

/// Throws tmeter::Error(TMETER_BAD_USAGE) for an id in --columns or --sort that the report lacks.
Columns choose_columns(const tmeter::Report& report, const View& view, const Look& look);

// A cell of the table as text.

using reports::Accumulator;
using reports::plain_number;
using tmeter::Cell;

/// `raw`: without scaling.
ShownValue shown_value(const Cell& cell, const tmeter::Metric& metric, bool raw);

/// The title of a column; with the unit if values are raw.
std::string column_title(const tmeter::Metric& metric, bool raw);

}  // namespace text_report
