// The JSON report's content as XML, section by section, schema docs/schema/tmeter-report-1.xsd:
// every metric of every plugin at every module, operator and tensor, exact.
#pragma once
#include <tmeter/cpp/report.hpp>

namespace xml_report {

void write(const tmeter::Report& report, tmeter::Output& out);

}  // namespace xml_report
