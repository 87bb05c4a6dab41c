// The data of the page's first screen, and all other data that do not grow with the model. Kinds,
// axes and severities are numbers of the SDK's headers, as in web/src/data/codes.ts.
#pragma once
#include "json.hpp"

namespace html_report {

void write_summary(Json& json, const tmeter::Report& report);

}  // namespace html_report
