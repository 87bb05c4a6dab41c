// Tables of exact numbers without units. A row has text columns (common/rows.hpp), one column for
// each metric, and `notes` with the statuses of cells: "macs: lower_bound; energy: unavailable". An
// unknown value is "n/a", which data frames read as missing; a cell that does not apply is empty.
//
// CSV follows RFC 4180: CRLF, fields quoted if necessary. In TSV every line is a row; tabs, line
// ends and backslashes are written as \t, \n, \r and \\.
#pragma once
#include <tmeter/cpp/report.hpp>

namespace csv_report {

enum class Format { kCsv, kTsv };

struct Options {
  Format format = Format::kCsv;
  bool leading_dot = false;
  bool guard_formulas = true;  // an apostrophe before "=1+1"
};

/// Throws tmeter::Error(TMETER_BAD_USAGE) for an id in --columns that the report lacks.
void write(const tmeter::Report& report, const Options& options, tmeter::Output& out);

/// A text as a field, quoted or escaped if necessary.
std::string field(std::string_view text, const Options& options);

/// "4089184256", "0.0188", "n/a", "nan"; "" for a missing value.
std::string cell_text(const tmeter::Cell& cell);

}  // namespace csv_report
