// What was analysed: the lines above the table.
#pragma once
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "style.hpp"

namespace text_report {

/// Model, file, format, inputs with their shapes, and where shapes come from unless the file
/// records them.
std::vector<Text> header(const tmeter::Report& report, size_t width);

}  // namespace text_report
