// CSV as RFC 4180 has it (CRLF, fields quoted where they must be), numbers raw and exact. With a
// sweep a row per point: the symbols, then the totals. Without one a row per module: id, path,
// type, calls, then the metrics; the first is the root, with the totals of the model. Of --columns
// only those that are named.
//
// A figure that is not known (no rule, not available) is "n/a"; one that does not apply is empty.
#pragma once
#include <tmeter/cpp/report.hpp>

namespace csv_report {

/// Throws tmeter::Error(TMETER_BAD_USAGE) for an id in --columns that the report lacks.
void write(const tmeter::Report& report, tmeter::Output& out);

/// As a field: in quotes, and quotes in it doubled, where it has to be.
std::string field(std::string_view text);

/// "4089184256", "0.0188", "n/a", "nan", "" for nothing.
std::string figure(const tmeter::Cell& cell);

}  // namespace csv_report
