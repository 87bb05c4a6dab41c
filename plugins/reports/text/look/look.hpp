// The look of a text report, this folder's only header for other folders: styled text, running text
// in lines, the configuration's settings, and tables drawn as lines. Widths are in terminal
// columns; 0 means no limit.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "settings.hpp"
#include "style.hpp"

namespace text_report {

// Text in lines of at most `width` columns.

/// Words flow into lines; continuation lines are indented by `indent`. A word longer than a line
/// is cut.
std::vector<Text> flow(const Text& text, size_t width, size_t indent);

/// The same for items that are not split, with " · " between those on one line.
std::vector<Text> flow_items(const std::vector<Text>& items, size_t width, size_t indent);

// A text in several lines.

/// Broken at spaces if possible, else anywhere; at least one line. 0: no limit.
std::vector<Text> wrap(const Text& text, size_t width);

/// One line or several, by the column's `overflow`.
std::vector<Text> fitted(const Text& text, size_t width, Overflow overflow, bool no_wrap);

/// `text` aligned in `width` columns, without trailing spaces if aligned left.
Text aligned(const Text& text, size_t width, Justify justify);

// Draws a table as lines of text. Needs no report, graph or host, so that tests can use it alone.

/// A value in a table: number and unit are aligned separately, so that units line up.
struct ShownValue {
  std::string number, unit;
  Style style = Style::kPlain;
};

constexpr std::string_view kFacts = "facts";  // the group of output shapes and the like

struct Table {
  struct Column {
    std::string title;
    std::string group;  // if room is short, facts go first, then the largest group loses a column
    bool primary = false;  // stays until the end
    std::string name{};    // in the configuration: "macs"
  };
  struct Row {
    std::string id;
    Text name;  // tree lines, name, notes
    std::string type;
    std::vector<ShownValue> values;  // one per column
    std::optional<double> share;     // 0 … 1, drawn as a bar
    bool strong = false;
    std::vector<Text> more{};  // further lines of the name
    Text above{};  // guides of a line between this row and the previous one, in the column of names
    bool frame = false;  // part of a box, not a separate row
  };
  std::string share_title;        // "share of MACs"; empty: no shares
  std::string short_share_title;  // "of MACs", when there is no room for bars
  std::vector<Column> columns;
  std::vector<Row> rows;
  Text title, caption;
  std::optional<Row> total{};  // kept for a footer
  /// Writes `name`, `more` and `above` of all rows again, at most `width` wide; may be empty.
  std::function<void(std::vector<Row>&, size_t width)> refit_names;
};

struct DrawnTable {
  std::vector<Text> lines;
  std::vector<size_t> left_out;  // columns that did not fit
};

/// No line is wider than `width`. Reduced in this order: bars, shares, types and names down to a
/// legible width, columns that may be wrapped or cut, columns, types and names.
DrawnTable draw(const Table& table, size_t width, const Look& look = Look::make());

/// A bar of at most `width` columns in eighths; visible for any share above 0.
std::string bar(double share, size_t width);

}  // namespace text_report
