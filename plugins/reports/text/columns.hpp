// Which metrics are columns of the table, which are facts of the whole model, and which one the
// bars show. Decided by descriptors alone: no metric is known by name here.
#pragma once
#include <optional>
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "look.hpp"
#include "view.hpp"

namespace text_report {

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

}  // namespace text_report
