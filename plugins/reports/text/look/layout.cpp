#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "look.hpp"
#include "slots.hpp"
#include "style.hpp"

namespace text_report {
namespace {

using Kind = Slot::Kind;

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

/// Aligns the unit with those of other rows, unless the user has set the justification.
Text value_text(const ShownValue& value, const Slot& slot, bool strong) {
  const bool lined_up = slot.look.justify == Justify::kAuto &&
                        slot.width >= slot.number + (slot.unit ? 1 + slot.unit : 0);
  Text text;
  if (lined_up) text.pad_to(slot.number - display_width(value.number));
  text.add(value.number, strong && value.style == Style::kPlain ? Style::kStrong : value.style);
  if (slot.unit == 0 || (!lined_up && value.unit.empty())) return text;
  text.add(" ").add(value.unit, Style::kQuiet);
  return lined_up ? text.pad_to(slot.number + 1 + slot.unit) : text;
}

Justify side_of(const Slot& slot, bool bars) {
  if (slot.look.justify != Justify::kAuto) return slot.look.justify;
  const bool right = slot.kind == Kind::kValue || (slot.kind == Kind::kShare && !bars);
  return right ? Justify::kRight : Justify::kLeft;
}

/// The content of a slot in one row, usually one line.
struct SlotCell {
  Text text;
  std::vector<Text> more{};
  size_t lines() const { return text.empty() && more.empty() ? 0 : 1 + more.size(); }
  const Text& line(size_t i) const { return i == 0 ? text : more[i - 1]; }
};

class TableDrawer {
 public:
  TableDrawer(const Table& table, const Look& look, const Slots& slots)
      : table_(table), look_(look), own_(look.table), slots_(slots) {
    border_ = over(own_.style, own_.border, look.theme);
    for (const auto& s : slots.all)
      boxed_ = boxed_ || (&s >= &slots.all[slots.split] && visible(s));
  }

  std::vector<Text> run() {
    around(table_.title, own_.title_justify);
    edge(&Box::top);
    if (own_.show_header && !table_.columns.empty()) {
      cells_line(header(), own_.header, &Box::head, own_.padding);
      edge(&Box::head_row, true);
    }
    size_t counted = 0;
    for (size_t i = 0; i < table_.rows.size(); ++i) {
      const auto& row = table_.rows[i];
      if (i > 0 && !row.frame) between(row);
      cells_line(cells_of(row), row_style(row.frame ? counted : counted++), &Box::mid,
                 row.frame ? Padding{} : own_.padding);
    }
    if (own_.show_footer && table_.total) {
      edge(&Box::foot_row, true);
      cells_line(cells_of(*table_.total), own_.footer, &Box::foot, own_.padding);
    }
    edge(&Box::bottom);
    around(table_.caption, own_.caption_justify);
    return std::move(lines_);
  }

 private:
  static bool visible(const Slot& s) { return s.shown && s.width > 0; }

  Style row_style(size_t i) const {
    return own_.rows.empty() ? Style{} : own_.rows[i % own_.rows.size()];
  }

  const std::string& title_of(const Slot& s) const {
    static const std::string nothing;
    if (!s.look.title.empty()) return s.look.title;
    if (s.kind == Kind::kValue) return table_.columns[s.column].title;
    if (s.kind == Kind::kShare) return slots_.bars ? table_.share_title : table_.short_share_title;
    return nothing;
  }

  std::vector<SlotCell> header() const {
    std::vector<SlotCell> cells(slots_.all.size());
    for (size_t i = 0; i < cells.size(); ++i) {
      const auto& s = slots_.all[i];
      if (visible(s)) fit(Text(title_of(s), s.look.header), s, cells[i]);
    }
    return cells;
  }

  std::vector<SlotCell> cells_of(const Table::Row& row) const {
    std::vector<SlotCell> cells(slots_.all.size());
    for (size_t i = 0; i < cells.size(); ++i) {
      const auto& s = slots_.all[i];
      if (visible(s)) put(row, s, cells[i]);
    }
    return cells;
  }

  void put(const Table::Row& row, const Slot& s, SlotCell& cell) const {
    switch (s.kind) {
      case Kind::kId:
        return fit(Text(row.id, s.look.style), s, cell);
      case Kind::kType:
        return fit(Text(row.type, s.look.style), s, cell);
      case Kind::kName:
        fit(row.name, s, cell);
        for (const auto& more : row.more) cell.more.push_back(more);
        return;
      case Kind::kShare:
        // Padded, so that bars start in the same column when justified right, too.
        if (row.share)
          fit(share_text(*row.share, slots_.bars)
                  .pad_to(slots_.bars ? std::min(s.width, kPercentWidth + 1 + kBarWidth) : 0),
              s, cell);
        return;
      case Kind::kValue:
        if (!row.frame) fit(value_text(row.values[s.column], s, row.strong), s, cell);
    }
  }

  void fit(Text text, const Slot& s, SlotCell& cell) const {
    if (text.width() <= s.width) {
      cell.text = std::move(text);
      return;
    }
    auto parts = fitted(text, s.width, s.look.overflow, s.look.no_wrap);
    cell.text = std::move(parts.front());
    parts.erase(parts.begin());
    cell.more = std::move(parts);
  }

  Text styled(const Text& text, const Slot& s, const Style& row) const {
    const bool words = s.kind == Kind::kId || s.kind == Kind::kType;
    auto base = words ? row : over(row, s.look.style, look_.theme);
    if (row.plain() && (words || s.look.style.plain()))
      return own_.highlight ? highlighted(text, look_.theme) : text;
    return (own_.highlight ? highlighted(text, look_.theme) : text).on(base, look_.theme);
  }

  /// Draws a row of cells, with the dividers `chars` if there is a box.
  void cells_line(const std::vector<SlotCell>& cells, const Style& row, BoxLine Box::*chars,
                  const Padding& pad) {
    const auto base = row.plain() ? own_.style : over(own_.style, row, look_.theme);
    size_t height = 1;
    for (const auto& cell : cells) height = std::max(height, cell.lines());
    const auto all = height + pad.top + pad.bottom;
    for (size_t i = 0; i < all; ++i) {
      Text line;
      size_t divider = 0;
      for (size_t c = 0; c < cells.size(); ++c) {
        const auto& s = slots_.all[c];
        if (!visible(s)) continue;
        if (own_.box && c >= slots_.split) dividers_before(s.begin, divider, chars, base, line);
        const auto lines = cells[c].lines();
        const auto spare = height - lines;
        const auto skip = pad.top + (s.look.vertical == Vertical::kTop      ? 0
                                     : s.look.vertical == Vertical::kMiddle ? spare / 2
                                                                            : spare);
        if (i < skip || i >= skip + lines) continue;
        const auto& text = cells[c].line(i - skip);
        const auto spaces = s.width - std::min(s.width, text.width());
        const auto side = side_of(s, slots_.bars);
        const auto before = side == Justify::kRight    ? spaces
                            : side == Justify::kCenter ? spaces / 2
                                                       : 0;
        line.pad_to(s.begin + before, base).append(styled(text, s, base));
      }
      if (own_.box) dividers_before(slots_.end + 1, divider, chars, base, line);
      lines_.push_back(std::move(line));
    }
  }

  /// The vertical lines of the box left of column `at`.
  void dividers_before(size_t at, size_t& next, BoxLine Box::*chars, const Style& base,
                       Text& line) const {
    if (!boxed_) return;
    const auto& c = own_.box->*chars;
    // The first is the left edge and the last the right edge; the others are between columns.
    const auto count = slots_.dividers.size() + 2;
    for (; next < count; ++next) {
      const bool left = next == 0, right = next + 1 == count;
      const auto x = left ? slots_.box_begin : right ? slots_.end - 1 : slots_.dividers[next - 1];
      if (x >= at) return;
      if ((left || right) && !own_.show_edge) continue;
      line.pad_to(x, base).add(left ? c.left : right ? c.right : c.divider, border_);
    }
  }

  /// A horizontal line of the box. An `inner` one is drawn even without the outer lines.
  void edge(BoxLine Box::*chars, bool inner = false, const Text& beside = {}) {
    if (!own_.box || !boxed_ || (!inner && !own_.show_edge)) return;
    const auto& c = own_.box->*chars;
    Text line = beside;
    line.pad_to(slots_.box_begin);
    size_t next = 0;
    std::string text;
    for (size_t x = slots_.box_begin; x < slots_.end; ++x) {
      const bool left = own_.show_edge && x == slots_.box_begin,
                 right = own_.show_edge && x + 1 == slots_.end;
      const bool divider = next < slots_.dividers.size() && slots_.dividers[next] == x;
      next += divider;
      text += left ? c.left : right ? c.right : divider ? c.divider : c.fill;
    }
    lines_.push_back(std::move(line.add(text, border_)));
  }

  /// The separator between a row and the previous one.
  void between(const Table::Row& row) {
    if (own_.leading == 0 && !own_.show_lines) return;
    Text beside;
    if (const auto* name = slots_.find(Kind::kName); name && visible(*name) && !row.above.empty())
      beside.pad_to(name->begin).append(row.above.cut(name->width));
    for (size_t i = 0; i < own_.leading; ++i) {
      std::vector<SlotCell> cells(slots_.all.size());
      for (size_t c = 0; c < cells.size(); ++c)
        if (slots_.all[c].kind == Kind::kName) cells[c].text = row.above.cut(slots_.all[c].width);
      cells_line_without_padding(cells);
    }
    if (own_.leading > 0) return;
    if (own_.box && boxed_)
      edge(&Box::row, true, slots_.split > 0 ? beside : Text());
    else
      lines_.push_back(beside);
  }

  void cells_line_without_padding(const std::vector<SlotCell>& cells) {
    Text line;
    size_t divider = 0;
    for (size_t c = 0; c < cells.size(); ++c) {
      const auto& s = slots_.all[c];
      if (!visible(s)) continue;
      if (own_.box && c >= slots_.split)
        dividers_before(s.begin, divider, &Box::mid, own_.style, line);
      if (!cells[c].text.empty()) line.pad_to(s.begin, own_.style).append(cells[c].text);
    }
    if (own_.box) dividers_before(slots_.end + 1, divider, &Box::mid, own_.style, line);
    lines_.push_back(std::move(line));
  }

  void around(const Text& text, Justify side) {
    if (text.empty()) return;
    for (const auto& line : wrap(text, slots_.end))
      lines_.push_back(aligned(line, slots_.end, side));
  }

  const Table& table_;
  const Look& look_;
  const TableLook& own_;
  const Slots& slots_;
  Style border_;
  bool boxed_ = false;  // the box has content
  std::vector<Text> lines_;
};

}  // namespace

DrawnTable draw(const Table& source, size_t width, const Look& look) {
  DrawnTable drawn;
  auto slots = arrange(source, look.table, look, width);
  const auto* name = slots.find(Kind::kName);
  size_t natural = 0;
  if (name)
    for (const auto& row : source.rows) natural = std::max(natural, row.name.width());
  const bool refit = name && source.refit_names && (name->width < natural || look.repeat.expand);
  Table table;
  if (refit) {
    table = source;
    table.refit_names(table.rows, name->width);
  }
  auto lines = TableDrawer(refit ? table : source, look, slots).run();
  for (auto& line : lines) drawn.lines.push_back(width ? line.cut(width) : std::move(line));
  for (const auto& s : slots.all)
    if (s.kind == Kind::kValue && !s.shown && s.look.show != Show::kNever)
      drawn.left_out.push_back(s.column);
  return drawn;
}

std::string bar(double share, size_t width) {
  static constexpr std::array<std::string_view, 9> kEighths{"",  "▏", "▎", "▍", "▌",
                                                            "▋", "▊", "▉", "█"};
  if (!(share > 0)) return {};
  const double exact = std::min(share, 1.0) * 8.0 * static_cast<double>(width);
  const auto eighths = std::max<size_t>(1, static_cast<size_t>(std::lround(exact)));
  std::string out;
  for (size_t i = 0; i < eighths / 8; ++i) out += kEighths[8];
  return out.append(kEighths[eighths % 8]);
}

}  // namespace text_report
