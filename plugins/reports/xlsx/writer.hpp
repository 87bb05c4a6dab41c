// The workbook: the model with its totals, then a sheet for each table.
#pragma once
#include <tmeter/cpp/report.hpp>

namespace xlsx_report {

void write(const tmeter::Report& report, tmeter::Output& out);

}  // namespace xlsx_report
