// What depends on the sizes of a model with dynamic shapes.
#pragma once
#include "values.hpp"

namespace json_report {

/// "formulas": [{"metric", "module", "text", "terms": [{"coefficient", "powers": {symbol:
/// power}}]}]
void formulas(Stream& stream, const tmeter::Report& report);

/// {"symbols", "points": [[value per symbol]], "totals": {metric: [figure per point]}}, or null.
Json sweep(const tmeter::Report& report);

}  // namespace json_report
