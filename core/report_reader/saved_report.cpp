#include "core/report_reader/saved_report.hpp"

#include "core/report_reader/document.hpp"
#include "core/report_reader/graph_rows.hpp"
#include "core/report_reader/findings.hpp"

namespace tmeter::core {

SavedReport read_report(std::string_view json) {
  saved::Document document(json);
  SavedReport out;
  saved::Figures figures(document, out.report.results);
  saved::GraphRows rows(document, figures);
  out.graph = rows.read();
  out.report.graph = out.graph.get();
  out.report.tell_structure(rows.take_structure());
  figures.totals(document);
  figures.coverage(document);
  figures.formulas(document, *out.graph, out.report.formulas);
  figures.sweep(document, *out.graph, out.report.sweep);
  saved::read_remarks(document, figures, out.report);
  return out;
}

bool is_saved_report(std::string_view bytes) { return saved::begins_with_schema(bytes); }

}  // namespace tmeter::core
