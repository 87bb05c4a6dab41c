#include "../common/charts.hpp"

#include <algorithm>

#include "look/look.hpp"
#include "paragraphs.hpp"
#include "tables.hpp"

namespace text_report {
namespace {

using reports::CurveFamily;
using tmeter::Report;

/// Number and unit, which are aligned separately.
ShownValue curve_value(double value, const CurveFamily& family) {
  auto text = reports::shown_y(value, family);
  const bool is_above = family.limit > 0 && value > family.limit;
  const auto space = text.find(' ');
  ShownValue out{text.substr(0, space), "", is_above ? Style::kWarning : Style::kPlain};
  if (space != text.npos) out.unit = text.substr(space + 1);
  return out;
}

Table curve_table(const CurveFamily& family) {
  Table table;
  table.columns.push_back({family.x_title, "", true});
  for (const auto& member : family.members) table.columns.push_back({member, "curves"});
  for (const auto& [x, values] : family.rows) {
    Table::Row row;
    row.values.push_back({reports::shown_number(x), "", Style::kStrong});
    for (const auto& y : values)
      row.values.push_back(y ? curve_value(*y, family) : ShownValue{"–", "", Style::kQuiet});
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::vector<Text> stack_lines(const Report& report, size_t width) {
  constexpr size_t kIndent = 2, kMaxStackWidth = 76;
  std::vector<Text> lines;
  for (const auto& stack : reports::stacks_of(report)) {
    Text head =
        Text("  " + reports::heading_of(stack), stack.is_above() ? Style::kWarning : Style::kPlain);
    lines.push_back(std::move(head));
    const auto room = width > kIndent ? std::min(kMaxStackWidth, width - kIndent) : kMaxStackWidth;
    lines.push_back(Text("  ").add(reports::drawn(stack, room), Style::kBar));
    std::vector<Text> items;
    for (const auto& item : reports::legend_of(stack)) items.emplace_back(item, Style::kQuiet);
    for (const auto& line : flow_items(items, width > kIndent ? width - kIndent : width, 0))
      lines.push_back(Text("  ").append(line));
  }
  return lines;
}

std::vector<Text> curve_tables(const Report& report, const Look& look, size_t width) {
  std::vector<Text> lines;
  for (const auto& family : reports::curve_families(report)) {
    if (!lines.empty()) lines.emplace_back();
    lines.emplace_back(reports::heading_of(family), Style::kStrong);
    for (auto& line : draw(curve_table(family), width, look).lines)
      lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace text_report
