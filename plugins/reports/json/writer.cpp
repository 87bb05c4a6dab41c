#include "writer.hpp"

#include "rows.hpp"
#include "sections.hpp"

namespace json_report {

void write(const tmeter::Report& report, tmeter::Output& out) {
  Stream stream(out);
  RowWriter rows(stream, report);
  stream.open('{').member("schema").text("tmeter-report/1");
  tool(stream, report);
  model(stream, report);
  rows.inputs();
  rows.outputs();
  symbols(stream, report);
  metadata(stream, report);
  metrics(stream, report);
  totals(stream, report);
  totals_status(stream, report);
  totals_infinite(stream, report);
  formulas(stream, report);
  sweep(stream, report);
  coverage(stream, report);
  rows.modules();
  rows.module_calls();
  rows.nodes();
  rows.tensors();
  assertions(stream, report);
  findings(stream, report);
  series(stream, report);
  distributions(stream, report);
  config(stream, report);
  warnings(stream, report);
  plugins(stream, report);
  stream.member("hardware").text_or_null(report.property("hardware"));
  stream.member("command").text_or_null(report.property("command"));
  run(stream, report);
  timing(stream, report);
  stream.end_line(0).close('}').finish();
}

}  // namespace json_report
