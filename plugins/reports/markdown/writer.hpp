// A short comment for reviewers: totals, bounds and findings. Collapsed blocks hold the heaviest
// modules and operators, and the conventions.
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
