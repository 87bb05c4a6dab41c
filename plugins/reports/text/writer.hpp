// The default report: header, tree beside a table, footer.
#pragma once
#include <tmeter/cpp/report.hpp>

#include "look/look.hpp"

namespace text_report {

/// Throws tmeter::Error(TMETER_BAD_USAGE) for view options that do not fit the report.
void write(const tmeter::Report& report, tmeter::Output& out, const Look& look = Look::make());

}  // namespace text_report
