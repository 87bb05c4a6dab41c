// Names and tables as Markdown, escaped for GitHub: its tables and inline HTML have more special
// characters than CommonMark.
#pragma once
#include <string>
#include <string_view>
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "../common/buffer.hpp"
#include "../common/cells.hpp"

namespace markdown_report {

/// Literal text, printable and cut to a readable length. Markup, HTML, links, emoji (:name:), and
/// mentions of people (@name) and issues (#1) have no effect in it.
std::string escaped(std::string_view text);

/// Inline code, safe inside tables: `layer1.0.conv1`.
std::string code(std::string_view text);

/// A GitHub table of escaped cells. The first `words` columns are text; the others are numbers,
/// aligned right.
struct Table {
  size_t words = 1;
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
};

void write_table(const Table& table, reports::Buffer& out);

/// Begins a collapsed block. Write its content, then call `end_details`.
void begin_details(std::string_view summary, reports::Buffer& out);
void end_details(reports::Buffer& out);

}  // namespace markdown_report
