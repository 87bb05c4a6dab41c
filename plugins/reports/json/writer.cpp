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
  stream.section_lines("symbols", symbols(report.graph()));
  stream.section_lines("metrics", metrics(report));
  stream.section_lines("totals", totals(report));
  stream.section_lines("formulas", formulas(report));
  stream.section("sweep", sweep(report));
  stream.section("coverage", coverage(report));
  rows.modules();
  rows.nodes();
  rows.tensors();
  if (report.assertions().size() > 0) stream.section_lines("assertions", assertions(report));
  stream.section_lines("findings", findings(report));
  stream.section_lines("series", series(report));
  stream.section_lines("distributions", distributions(report));
  stream.section_lines("config", config(report));
  stream.section_lines("warnings", warnings(report));
  stream.section_lines("plugins", plugins(report));
  stream.section("hardware", text_or_null(report.property("hardware")));
  stream.section("timing", timing(report));
  stream.end_line(0).close('}').finish();
}

}  // namespace json_report
