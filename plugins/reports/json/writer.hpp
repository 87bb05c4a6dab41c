// The machine-readable report, schema "tmeter-report/1" (docs/schema/tmeter-report-1.schema.json):
// every metric of every plugin at every module, operator and tensor, exact.
#pragma once
#include <tmeter/cpp/report.hpp>

#include "values.hpp"

namespace json_report {

void write(const tmeter::Report& report, tmeter::Output& out);

// The sections of a report other than its rows: the model, the tool, totals, and lists, which are
// written item by item; also the results for other sizes of a model with dynamic shapes.

void tool(Stream& stream, const tmeter::Report& report);
/// The members of "model", in an object that is open.
void model_members(Stream& stream, const tmeter::Report& report);
void model(Stream& stream, const tmeter::Report& report);
void symbols(Stream& stream, const tmeter::Report& report);
/// Writes nothing if the file has none.
void metadata(Stream& stream, const tmeter::Report& report);
void metrics(Stream& stream, const tmeter::Report& report);
void totals(Stream& stream, const tmeter::Report& report);
/// Statuses of totals, by metric id: {"macs": "lower_bound"}. Plain numbers have none.
void totals_status(Stream& stream, const tmeter::Report& report);
/// Writes nothing if all totals are finite.
void totals_infinite(Stream& stream, const tmeter::Report& report);
/// "formulas": [{"metric", "module", "text", "terms": [{"coefficient", "powers": {symbol:
/// power}}]}]
void formulas(Stream& stream, const tmeter::Report& report);
/// {"symbols", "points": [[value per symbol]], "totals": {metric: [value per point]}}, or null.
void sweep(Stream& stream, const tmeter::Report& report);
void coverage(Stream& stream, const tmeter::Report& report);
/// Writes nothing without assertions.
void assertions(Stream& stream, const tmeter::Report& report);
void findings(Stream& stream, const tmeter::Report& report);
void series(Stream& stream, const tmeter::Report& report);
void distributions(Stream& stream, const tmeter::Report& report);
void config(Stream& stream, const tmeter::Report& report);
void warnings(Stream& stream, const tmeter::Report& report);
void plugins(Stream& stream, const tmeter::Report& report);
/// Facts about the run: "device", "weights". Nothing when the model was not run.
void run(Stream& stream, const tmeter::Report& report);
void timing(Stream& stream, const tmeter::Report& report);

}  // namespace json_report
