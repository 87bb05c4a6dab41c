// What analyses have to say in words: below the totals, most severe first.
#pragma once
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "style.hpp"

namespace text_report {

/// Most severe first. Severity, text, evidence, what it would change, what to do: a line for what
/// is worth knowing, a paragraph for what asks for something to be done. Of many findings of one
/// rule the first few, and how many more there are. No line is wider than `width` (0: no limit).
std::vector<Text> finding_lines(const tmeter::Report& report, size_t width);

}  // namespace text_report
