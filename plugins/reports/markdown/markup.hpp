// Names and tables as Markdown.
#pragma once
#include <string>
#include <string_view>
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "../common/buffer.hpp"
#include "../common/cells.hpp"

namespace markdown_report {

// Names as Markdown: GitHub's tables and inline HTML know more special characters than CommonMark.

/// Literal text: nothing in it is markup, HTML, a link, a mention of a person
/// (@name), of an issue (#1) or an emoji (:name:). Printable and cut to a readable length.
std::string escaped(std::string_view text);

/// The same as code: `layer1.0.conv1`, safe inside tables.
std::string code(std::string_view text);

// A table as GitHub reads it, and a block that opens on a click.

/// Rows of finished cells; the first `words` columns are texts, the others numbers, aligned right.
struct Table {
  size_t words = 1;
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
};

void write_table(const Table& table, reports::Buffer& out);

/// Opens on a click; write the content, then `end_details`.
void begin_details(std::string_view summary, reports::Buffer& out);
void end_details(reports::Buffer& out);

}  // namespace markdown_report
