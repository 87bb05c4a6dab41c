#include "layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include "utf8.hpp"

namespace text_report {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kBarWidth = 10;
constexpr size_t kPercentWidth = 6;  // "16.3 %", "<0.1 %"
// Below these, names and types say little: columns give way first.
constexpr size_t kLegibleName = 20, kLegibleType = 10;
constexpr size_t kShortestName = 8;

struct ColumnWidth {
  size_t number = 0, unit = 0, whole = 0;
  bool shown = true;
};

struct Widths {
  size_t id = 0, name = 0, type = 0, share = 0;
  bool bars = true;
  std::vector<ColumnWidth> columns;

  size_t total() const {
    size_t sum = 0;
    const auto add = [&sum](size_t w) { sum += w ? w + (sum ? kGap : 0) : 0; };
    add(id), add(name), add(type);
    for (const auto& c : columns)
      if (c.shown) add(c.whole);
    add(share);
    return sum;
  }
};

ColumnWidth measure_column(const Table& table, size_t c) {
  ColumnWidth w;
  for (const auto& row : table.rows) {
    w.number = std::max(w.number, display_width(row.figures[c].number));
    w.unit = std::max(w.unit, display_width(row.figures[c].unit));
  }
  const size_t figures = w.number + (w.unit ? 1 + w.unit : 0);
  w.whole = std::max(figures, display_width(table.columns[c].title));
  return w;
}

Widths measure(const Table& table) {
  Widths w;
  for (const auto& row : table.rows) {
    w.id = std::max(w.id, display_width(row.id));
    w.name = std::max(w.name, row.name.width());
    w.type = std::max(w.type, display_width(row.type));
  }
  for (size_t c = 0; c < table.columns.size(); ++c) w.columns.push_back(measure_column(table, c));
  if (!table.share_title.empty())
    w.share = std::max(kPercentWidth + 1 + kBarWidth, display_width(table.share_title));
  return w;
}

// The last column of the group that has most of them left, so that every plugin keeps one.
size_t column_to_drop(const Table& table, const Widths& w) {
  std::map<std::string, size_t> left;
  for (size_t c = 0; c < w.columns.size(); ++c)
    if (w.columns[c].shown) ++left[table.columns[c].group];
  size_t best = 0, most = 0;
  for (size_t c = 0; c < w.columns.size(); ++c) {
    const auto& column = table.columns[c];
    if (!w.columns[c].shown || column.primary || left[column.group] < most) continue;
    most = left[column.group];
    best = c;
  }
  return best;
}

size_t short_share_width(const Table& table) {
  return std::max(kPercentWidth, display_width(table.short_share_title));
}

void fit(const Table& table, Widths& w, size_t width) {
  const Widths full = w;
  const auto excess = [&] { return w.total() > width ? w.total() - width : 0; };
  const auto shrink = [&](size_t& part, size_t least) {
    part = std::max(std::min(part, least), part - std::min(part, excess()));
  };
  if (excess() && w.share) w.bars = false, w.share = short_share_width(table);
  if (excess()) w.share = 0;
  shrink(w.type, kLegibleType);
  shrink(w.name, kLegibleName);
  size_t shown = w.columns.size();
  while (excess() && shown-- > 1) w.columns[column_to_drop(table, w)].shown = false;
  shrink(w.type, 0);
  shrink(w.name, kShortestName);
  // A dropped column leaves room: types need little of it.
  const auto grow = [&](size_t& part, size_t wanted) {
    const size_t spare = width > w.total() ? width - w.total() : 0;
    if (part) part = std::min(wanted, part + spare);
  };
  grow(w.type, full.type);
  grow(w.name, full.name);
}

// Keeps track of where the next column begins.
class Line {
 public:
  Text& column(size_t width) {
    if (end_) end_ += kGap;
    text_.pad_to(end_);
    end_ += width;
    return text_;
  }
  /// Text at the right edge of a column.
  void right(size_t width, const Text& content) {
    Text& line = column(width);
    line.pad_to(end_ - std::min(width, content.width()));
    line.append(content);
  }
  const Text& text() const { return text_; }

 private:
  Text text_;
  size_t end_ = 0;
};

Text figure_text(const Figure& figure, const ColumnWidth& w, bool strong) {
  Text text;
  text.pad_to(w.number - display_width(figure.number));
  text.add(figure.number, strong && figure.style == Style::kPlain ? Style::kStrong : figure.style);
  if (w.unit == 0) return text;
  const size_t end = w.number + 1 + w.unit;
  return text.add(" ").add(figure.unit, Style::kQuiet).pad_to(end);
}

std::string percent(double share) {
  if (share <= 0) return "0 %";
  if (share < 0.001) return "<0.1 %";
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), share >= 0.9995 ? "%.0f %%" : "%.1f %%", share * 100);
  return buffer.data();
}

Text share_text(double share, bool bars) {
  const std::string number = percent(share);
  Text text;
  text.pad_to(kPercentWidth - std::min(kPercentWidth, display_width(number)));
  text.add(number, share > 0 ? Style::kPlain : Style::kQuiet);
  return bars ? text.add(" ").add(bar(share, kBarWidth), Style::kBar) : text;
}

Text title_line(const Table& table, const Widths& w) {
  Line line;
  for (const size_t part : {w.id, w.name, w.type})
    if (part) line.column(part);
  for (size_t c = 0; c < w.columns.size(); ++c)
    if (w.columns[c].shown)
      line.right(w.columns[c].whole, Text(table.columns[c].title, Style::kQuiet));
  if (w.share && w.bars) line.column(w.share).add(table.share_title, Style::kQuiet);
  if (w.share && !w.bars) line.right(w.share, Text(table.short_share_title, Style::kQuiet));
  return line.text();
}

Text row_line(const Table::Row& row, const Widths& w) {
  Line line;
  if (w.id) line.column(w.id).add(row.id, Style::kQuiet);
  if (w.name) line.column(w.name).append(row.name.cut(w.name));
  if (w.type) line.column(w.type).add(cut_end(printable(row.type), w.type), Style::kType);
  for (size_t c = 0; c < w.columns.size(); ++c)
    if (w.columns[c].shown)
      line.right(w.columns[c].whole, figure_text(row.figures[c], w.columns[c], row.strong));
  if (w.share && row.share && w.bars) line.column(w.share).append(share_text(*row.share, true));
  if (w.share && row.share && !w.bars) line.right(w.share, share_text(*row.share, false));
  return line.text();
}

}  // namespace

DrawnTable draw(const Table& table, size_t width) {
  Widths w = measure(table);
  if (width) fit(table, w, width);
  DrawnTable drawn;
  const auto keep = [&](const Text& line) {
    drawn.lines.push_back(width ? line.cut(width) : line);
  };
  if (!table.columns.empty()) keep(title_line(table, w));
  for (const auto& row : table.rows) keep(row_line(row, w));
  for (size_t c = 0; c < w.columns.size(); ++c)
    if (!w.columns[c].shown) drawn.left_out.push_back(c);
  return drawn;
}

std::string bar(double share, size_t width) {
  static constexpr std::array<std::string_view, 9> kEighths{"",  "▏", "▎", "▍", "▌",
                                                            "▋", "▊", "▉", "█"};
  if (!(share > 0)) return {};
  const double wanted = std::min(share, 1.0) * 8.0 * static_cast<double>(width);
  const auto eighths = std::max<size_t>(1, static_cast<size_t>(std::lround(wanted)));
  std::string out;
  for (size_t i = 0; i < eighths / 8; ++i) out += kEighths[8];
  return out.append(kEighths[eighths % 8]);
}

}  // namespace text_report
