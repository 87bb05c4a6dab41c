// The short sections of a report: the model, the tool, and totals.
#pragma once
#include "stream.hpp"

namespace xml_report {

void tool(Stream& stream, const tmeter::Report& report);
void model(Stream& stream, const tmeter::Report& report);
void symbols(Stream& stream, const tmeter::Graph& graph);
/// Nothing when the file states none.
void metadata(Stream& stream, const tmeter::Graph& graph);
void metrics(Stream& stream, const tmeter::Report& report);
void totals(Stream& stream, const tmeter::Report& report);
void formulas(Stream& stream, const tmeter::Report& report);
void sweep(Stream& stream, const tmeter::Report& report);
void coverage(Stream& stream, const tmeter::Report& report);
void assertions(Stream& stream, const tmeter::Report& report);
void findings(Stream& stream, const tmeter::Report& report);
void series(Stream& stream, const tmeter::Report& report);
void distributions(Stream& stream, const tmeter::Report& report);
/// How the run was made: options, warnings, plugins, hardware, time.
void run(Stream& stream, const tmeter::Report& report);

}  // namespace xml_report
