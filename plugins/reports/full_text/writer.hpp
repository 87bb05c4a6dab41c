// The long report. Written as it goes: a hundred thousand operators need no memory.
#pragma once
#include <tmeter/cpp/report.hpp>

namespace full_text_report {

void write(const tmeter::Report& report, tmeter::Output& out);

}  // namespace full_text_report
