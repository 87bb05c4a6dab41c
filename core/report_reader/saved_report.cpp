#include "core/report_reader/saved_report.hpp"

#include "core/report_reader/document.hpp"
#include "core/report_reader/graph_rows.hpp"
#include "core/report_reader/findings.hpp"

namespace tmeter::core {

SavedReport read_report(std::string_view json) {
  report_reader::Document document(json);
  SavedReport out;
  report_reader::Figures figures(document, out.report.results);
  report_reader::GraphRows rows(document, figures);
  out.graph = rows.read();
  out.report.graph = out.graph.get();
  out.report.set_module_descriptions(rows.take_descriptions());
  figures.totals(document);
  figures.coverage(document);
  figures.formulas(document, *out.graph, out.report.formulas);
  figures.sweep(document, *out.graph, out.report.sweep);
  report_reader::read_findings(document, figures, out.report);
  return out;
}

bool is_saved_report(std::string_view bytes) { return report_reader::begins_with_schema(bytes); }

}  // namespace tmeter::core
