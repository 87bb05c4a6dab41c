#include "table.hpp"

namespace markdown_report {
namespace {

void write_row(const std::vector<std::string>& cells, reports::Buffer& out) {
  out << "|";
  for (const auto& cell : cells) out << " " << cell << " |";
  out << "\n";
}

}  // namespace

void write_table(const Table& table, reports::Buffer& out) {
  write_row(table.titles, out);
  std::vector<std::string> rule;
  for (size_t i = 0; i < table.titles.size(); ++i)
    rule.emplace_back(i < table.words ? "---" : "---:");
  write_row(rule, out);
  for (const auto& row : table.rows) write_row(row, out);
  out << "\n";
}

// Without the empty lines, GitHub reads the Markdown inside as HTML.
void begin_details(std::string_view summary, reports::Buffer& out) {
  out << "<details>\n<summary>" << summary << "</summary>\n\n";
}

void end_details(reports::Buffer& out) { out << "</details>\n\n"; }

}  // namespace markdown_report
