// A table as GitHub reads it, and a block that opens on a click.
#pragma once
#include <string>
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "../common/buffer.hpp"
#include "../common/cells.hpp"

namespace markdown_report {

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
