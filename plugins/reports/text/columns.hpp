// The view that the user asks for (--by, --depth, --columns, --sort, --raw), the columns that follow
// from it, and the text of one cell. Columns are chosen by descriptors: no metric is known by name.
#pragma once
#include <optional>
#include <string>
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "../common/figures.hpp"
#include "look/look.hpp"

namespace text_report {

enum class By { kModule, kOperator, kType, kTensor };

struct View {
  By by = By::kModule;
  std::optional<size_t> depth;                      // none: chosen by the number of rows
  std::optional<std::vector<std::string>> columns;  // none: every metric that is not a detail
  std::optional<size_t> deepest;                    // levels shown at most, if `depth` does not say
  std::string sort;                                 // metric id; empty: as in the model
  bool fold = true;                                 // draw identical siblings once
  bool repr = false;                                // modules as PyTorch prints them
  bool all_notes =
      false;  // of what every figure counts, not of what may differ from run to run alone
  bool no_notes = false;  // none of these
  bool raw = false;       // plain numbers: no scaling, no abbreviation
};

/// Throws tmeter::Error(TMETER_BAD_USAGE) naming the option and what it accepts.
View read_view(const tmeter::Report& report);

// Which metrics are columns of the table, which are facts of the whole model, and which one the
// bars show. Decided by descriptors alone: no metric is known by name here.

struct Columns {
  std::vector<std::string> facts_of_modules;  // "kernel_size": columns of words, before the figures
  std::vector<tmeter::Metric> shown;          // columns, in the order of the report or of --columns
  std::vector<tmeter::Metric> cells;          // `shown`, then what only labels tell
  std::vector<tmeter::Metric> of_tensors;     // columns of the table of tensors
  std::vector<tmeter::Metric> facts;          // of the model as a whole: shown below the table
  std::vector<tmeter::Metric> unavailable;    // asked for, but this machine or file cannot tell
  std::optional<size_t> bar;                  // index into `shown`
  std::optional<size_t> sort;                 // index into `shown`
  std::optional<size_t> sort_of_tensors;      // index into `of_tensors`
};

/// Throws tmeter::Error(TMETER_BAD_USAGE) for an id in --columns or --sort that the report lacks.
Columns choose_columns(const tmeter::Report& report, const View& view, const Look& look);

// One figure of the table.

using reports::Accumulator;
using reports::plain_number;
using tmeter::Cell;

/// As it is printed; `raw`: without scaling.
Figure figure_of(const Cell& cell, const tmeter::Metric& metric, bool raw);

/// Above a column; raw figures have their unit there.
std::string column_title(const tmeter::Metric& metric, bool raw);

}  // namespace text_report
