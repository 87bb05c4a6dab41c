// The sections of a report that are short: what was analysed, by what, and the sums.
#pragma once
#include "values.hpp"

namespace json_report {

Json tool(const tmeter::Report& report);
Json model(const tmeter::Report& report);
Json symbols(const tmeter::Graph& graph);
Json metrics(const tmeter::Report& report);
Json totals(const tmeter::Report& report);
Json coverage(const tmeter::Report& report);
Json series(const tmeter::Report& report);
Json distributions(const tmeter::Report& report);
Json assertions(const tmeter::Report& report);
Json findings(const tmeter::Report& report);
Json config(const tmeter::Report& report);
Json warnings(const tmeter::Report& report);
Json plugins(const tmeter::Report& report);
Json timing(const tmeter::Report& report);

/// A text, or null when it is empty.
Json text_or_null(std::string_view text);

}  // namespace json_report
