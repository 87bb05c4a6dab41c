// What a reviewer wants to know, short; the rest behind a click: totals, bounds, findings, the
// heaviest modules and operators, how it was counted.
#pragma once
#include <string>
#include <tmeter/cpp/report.hpp>

namespace markdown_report {

struct Options {
  size_t rows = 10;
  std::string title{};
};

void write(const tmeter::Report& report, const Options& options, tmeter::Output& out);

}  // namespace markdown_report
