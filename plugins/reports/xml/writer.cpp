#include "writer.hpp"

#include "rows.hpp"
#include "sections.hpp"

namespace xml_report {

void write(const tmeter::Report& report, tmeter::Output& out) {
  Stream stream(out);
  RowWriter rows(stream, report);
  stream.open("report").attribute("xmlns", "urn:tmeter:report:1");
  tool(stream, report);
  model(stream, report);
  rows.inputs();
  rows.outputs();
  symbols(stream, report.graph());
  metadata(stream, report.graph());
  metrics(stream, report);
  totals(stream, report);
  formulas(stream, report);
  sweep(stream, report);
  coverage(stream, report);
  assertions(stream, report);
  rows.modules();
  rows.nodes();
  rows.tensors();
  findings(stream, report);
  series(stream, report);
  distributions(stream, report);
  run(stream, report);
  stream.close();
  stream.finish();
}

}  // namespace xml_report
