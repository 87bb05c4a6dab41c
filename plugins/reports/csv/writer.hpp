// Tables, numbers raw and exact: first the words of a row (common/rows.hpp), then a column for each
// metric, then `notes`, which tells apart what numbers cannot: "macs: lower_bound; energy:
// unavailable". A figure that is not known is "n/a", which data frames read as missing; one that
// does not apply is empty.
//
// CSV as RFC 4180 has it: CRLF, fields quoted where they must be. TSV: a line is a row, always;
// tab, line ends and backslash are written \t, \n, \r and \\.
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

/// As a field: quoted or escaped where it has to be.
std::string field(std::string_view text, const Options& options);

/// "4089184256", "0.0188", "n/a", "nan", "" for nothing.
std::string figure(const tmeter::Cell& cell);

}  // namespace csv_report
