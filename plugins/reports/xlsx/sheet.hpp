// The sheets of a workbook: rows of text and numbers, in SpreadsheetML (ECMA-376, part 1).
//
// Strings are written as text cells, so a spreadsheet never evaluates a formula in them. Control
// characters become U+FFFD, and strings are cut after 32,767 characters, with "…". A table with
// more rows than a sheet can hold continues in another sheet, "Operators (2)".
#pragma once
#include <string>
#include <string_view>
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "package.hpp"

namespace xlsx_report {

inline constexpr size_t kMaxRows = 1'048'576, kMaxColumns = 16'384, kMaxText = 32'767;
inline constexpr size_t kMaxSheetName = 31;

/// A valid sheet name: at most 31 characters, none of []:*?/\, no apostrophe at either end, and not
/// "History".
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
  /// Writes the parts that the sheets share.
  void finish();

 private:
  void begin_sheet();
  void end_sheet();
  void begin_cell(std::string_view attributes);
  std::string title(std::string_view name) const;

  Package package_;
  std::vector<std::string> sheets_;  // their names
  std::string name_;
  std::vector<std::string> titles_;
  size_t row_ = 0, column_ = 0, pieces_ = 0;
  bool open_ = false, row_open_ = false;
};

}  // namespace xlsx_report
