// What the first screen of the page shows, and everything else that does not grow with the model.
// Kinds, axes and severities are the numbers of the SDK's headers; web/src/data/codes.ts has them,
// too.
#pragma once
#include "json.hpp"

namespace html_report {

void write_summary(Json& json, const tmeter::Report& report);

}  // namespace html_report
