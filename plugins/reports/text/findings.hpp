// What analyses have to say in words: below the totals, most severe first.
#pragma once
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "style.hpp"

namespace text_report {

/// One line each: severity, text, evidence, what to do, what it would change. Of many findings of
/// one rule the first few, and how many more there are.
std::vector<Text> finding_lines(const tmeter::Report& report);

}  // namespace text_report
