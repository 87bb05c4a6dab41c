// The sections of a report other than its rows: what was analysed, by what, the sums, and lists,
// which are written item by item.
#pragma once
#include "values.hpp"

namespace json_report {

Json tool(const tmeter::Report& report);
Json model(const tmeter::Report& report);
Json totals(const tmeter::Report& report);
/// What totals are besides plain numbers, by metric id: {"macs": "lower_bound"}.
Json totals_status(const tmeter::Report& report);
void totals_infinite(Stream& stream, const tmeter::Report& report);
Json coverage(const tmeter::Report& report);
Json config(const tmeter::Report& report);
/// What is to be known of measurements: "device", "weights"; nothing when the model was not run.
void run(Stream& stream, const tmeter::Report& report);
Json timing(const tmeter::Report& report);

void symbols(Stream& stream, const tmeter::Report& report);
void metrics(Stream& stream, const tmeter::Report& report);
/// Nothing when there are none.
void assertions(Stream& stream, const tmeter::Report& report);
void findings(Stream& stream, const tmeter::Report& report);
void series(Stream& stream, const tmeter::Report& report);
void distributions(Stream& stream, const tmeter::Report& report);
void warnings(Stream& stream, const tmeter::Report& report);
void plugins(Stream& stream, const tmeter::Report& report);

/// A text, or null when it is empty.
Json text_or_null(std::string_view text);

}  // namespace json_report
