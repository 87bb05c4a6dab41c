// The state that all sections share: the report, the metrics shown, and the output.
#pragma once
#include <string>
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "../common/buffer.hpp"
#include "../common/cells.hpp"
#include "../common/describe.hpp"
#include "plugins/common/utf8.hpp"

namespace full_text_report {

struct Document {
  const tmeter::Report& report;
  const tmeter::Graph graph;
  const std::vector<tmeter::Metric> metrics;  // metrics of --columns, else all
  const reports::FindingsByRow findings;
  reports::Buffer out;
  const bool ascii;  // other characters are replaced

  Document(const tmeter::Report& r, tmeter::Output& o, bool only_ascii);

  /// "3  Parameters" and a line under it.
  void heading(std::string_view title);
  /// One line, `indent` steps in; printable. Names are shown in full, up to a page.
  void line(size_t indent, std::string_view text);
  void gap() { out << "\n"; }

  /// The findings about a row, a line each.
  void advice(int32_t axis, size_t index);

  /// "MACs 118.01 M · FLOPs 236.03 M": the metrics with a value; empty without any.
  std::string values(const std::vector<tmeter::Cell>& cells) const;

  /// The text, in ASCII on request.
  std::string encoded(std::string text) const;

 private:
  size_t section_ = 0;
};

// Sections, in the order of the report.
void summary(Document& d);
void architecture(Document& d);
void distribution(Document& d);
void parameters(Document& d);
void operators(Document& d);
void sizes(Document& d);
void time_and_energy(Document& d);
void curves(Document& d);
void recommendations(Document& d);
void method(Document& d);

}  // namespace full_text_report
