#include "writer.hpp"

#include "by_size.hpp"
#include "rows.hpp"
#include "sections.hpp"

namespace json_report {

void write(const tmeter::Report& report, tmeter::Output& out) {
  Stream stream(out);
  RowWriter rows(stream, report);
  stream.open('{');
  stream.section("schema", "tmeter-report/1");
  stream.section("tool", tool(report));
  stream.section("model", model(report));
  rows.inputs();
  rows.outputs();
  symbols(stream, report);
  metrics(stream, report);
  stream.section_lines("totals", totals(report));
  stream.section("totals_status", totals_status(report));
  totals_infinite(stream, report);
  formulas(stream, report);
  stream.section("sweep", sweep(report));
  stream.section("coverage", coverage(report));
  rows.modules();
  rows.module_calls();
  rows.nodes();
  rows.tensors();
  assertions(stream, report);
  findings(stream, report);
  series(stream, report);
  distributions(stream, report);
  stream.section_lines("config", config(report));
  warnings(stream, report);
  plugins(stream, report);
  stream.section("hardware", text_or_null(report.property("hardware")));
  stream.section("command", text_or_null(report.property("command")));
  run(stream, report);
  stream.section("timing", timing(report));
  stream.end_line(0).close('}').finish();
}

}  // namespace json_report
