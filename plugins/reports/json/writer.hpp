// The machine-readable report, schema "tmeter-report/1" (docs/schema/tmeter-report-1.schema.json):
// every metric of every plugin at every module, operator and tensor, exact.
#pragma once
#include <tmeter/cpp/report.hpp>

namespace json_report {

void write(const tmeter::Report& report, tmeter::Output& out);

}  // namespace json_report
