// The long report, written piece by piece: memory does not grow with the number of operators.
#pragma once
#include <tmeter/cpp/report.hpp>

namespace full_text_report {

/// With `ascii`, other characters are replaced.
void write(const tmeter::Report& report, tmeter::Output& out, bool ascii);

}  // namespace full_text_report
