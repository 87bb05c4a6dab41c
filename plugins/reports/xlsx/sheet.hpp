// The sheets of a workbook: rows of text and numbers, in SpreadsheetML (ECMA-376, part 1).
//
// Text is written as text, so a spreadsheet never runs a formula in it. Unsupported text is
// replaced: control characters by U+FFFD, and the part after 32,767 characters by "…". A table with
// more rows than a sheet can hold continues in the next one, "Operators (2)".
#pragma once
#include <string>
#include <string_view>
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "package.hpp"

namespace xlsx_report {

inline constexpr size_t kMaxRows = 1'048'576, kMaxColumns = 16'384, kMaxText = 32'767;
inline constexpr size_t kMaxSheetName = 31;

/// A valid name: without []:*?/\ and apostrophes at its ends, at most 31 characters, not "History".
std::string sheet_name(std::string_view title);

class Workbook {
 public:
  explicit Workbook(tmeter::Output& out) : package_(out) {}

  /// Starts a table in a new sheet. The titles are its first row, which stays visible.
  void table(std::string_view name, const std::vector<std::string>& titles);
  void text(std::string_view text);
  /// Writes integers beyond 2^53, which a spreadsheet would round, as text.
  void whole(int64_t value);
  void real(double value);
  void cell(const tmeter::Cell& cell);
  void skip() { ++column_; }
  void end_row();
  /// Writes the common parts of the workbook.
  void finish();

 private:
  void begin_sheet();
  void end_sheet();
  void begin_cell(std::string_view more);
  std::string title(std::string_view name) const;

  Package package_;
  std::vector<std::string> sheets_;  // their names
  std::string name_;
  std::vector<std::string> titles_;
  size_t row_ = 0, column_ = 0, pieces_ = 0;
  bool open_ = false, row_open_ = false;
};

}  // namespace xlsx_report
