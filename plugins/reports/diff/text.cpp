// A comparison for the terminal: totals, then the modules that differ.
#include <algorithm>

#include "../common/describe.hpp"
#include "changes.hpp"
#include "plugins/common/wording.hpp"
#include "plugins/reports/text/look/look.hpp"

namespace diff_report {
namespace {

using text_report::Style;
using text_report::Text;

constexpr size_t kRows = 60;
constexpr size_t kGap = 2;
constexpr size_t kNameWidth = 60;  // columns of a module's name, without a terminal's width

Style style_of(const Change& change, const tmeter::Metric& metric) {
  const auto d = change.difference();
  if (!d || d->real() == 0) return Style::kQuiet;
  if (metric.better() == TMETER_BETTER_NEITHER) return Style::kPlain;
  const bool less = d->real() < 0;
  return less == (metric.better() == TMETER_BETTER_LOWER) ? Style::kGood : Style::kWarning;
}

/// Cells in columns; all but the first few are aligned to the right.
class Grid {
 public:
  /// `group`: columns after the first few that are left out together.
  Grid(std::vector<Text> titles, size_t left, size_t group) : left_(left), group_(group) {
    rows_.push_back(std::move(titles));
  }
  void add(std::vector<Text> cells) { rows_.push_back(std::move(cells)); }

  /// Drops columns from the right until lines fit `width`, 0 for no limit; returns how many.
  size_t draw(size_t width, std::vector<Text>& lines) const {
    std::vector<size_t> widths(rows_.front().size());
    for (const auto& row : rows_)
      for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].width());
    size_t shown = 0, used = 0;
    for (; shown < widths.size(); ++shown) {
      used += widths[shown] + (shown ? kGap : 0);
      if (width > 0 && used > width && shown > left_) break;
    }
    if (shown > left_) shown -= (shown - left_) % group_;
    for (const auto& row : rows_) {
      Text line;
      size_t at = 0;
      for (size_t c = 0; c < shown; ++c) {
        at += c ? kGap : 0;
        line.pad_to(c < left_ ? at : at + widths[c] - row[c].width()).append(row[c]);
        at += widths[c];
      }
      lines.push_back(line);
    }
    return widths.size() - shown;
  }

 private:
  size_t left_, group_;
  std::vector<std::vector<Text>> rows_;
};

class Writer {
 public:
  Writer(const Changes& changes, tmeter::Output& out, bool ascii)
      : changes_(changes),
        out_(out),
        how_{.color = out.color(), .ascii = ascii},
        width_(static_cast<size_t>(out.columns())) {}

  void write() {
    heading();
    totals();
    modules();
    assertions();
    notes();
    for (const auto& line : lines_)
      out_.write(text_report::render(width_ > 0 ? line.cut(width_) : line, how_));
  }

 private:
  void heading() {
    for (const auto& [word, report] :
         {std::pair("before  ", &changes_.before()), std::pair("after   ", &changes_.after())}) {
      Text line(word, Style::kQuiet);
      line.add(reports::model_name(*report), Style::kStrong).add("  ");
      line.add(report->property("model.file"));
      if (const auto size = reports::file_size(*report); !size.empty())
        line.add(" (" + size + ")", Style::kQuiet);
      std::vector<Text> items{line};
      if (const auto format = reports::format_of(*report); !format.empty())
        items.emplace_back(format, Style::kQuiet);
      for (size_t i = 0; i < std::min<size_t>(report->graph().inputs().size(), 3); ++i)
        items.emplace_back(reports::describe_input(report->graph(), i), Style::kQuiet);
      put(text_report::flow_items(items, width_, std::string_view(word).size()));
    }
    lines_.emplace_back();
  }

  void totals() {
    Grid grid({"", Text("before", Style::kQuiet), Text("after", Style::kQuiet),
               Text("change", Style::kQuiet), ""},
              1, 1);
    for (const auto& c : changes_.columns()) {
      const auto change = changes_.total(c);
      const auto style = style_of(change, c.after);
      grid.add({Text(c.after.title(), Style::kStrong),
                Text(reports::shown_in_full(change.before, c.before)),
                Text(reports::shown_in_full(change.after, c.after), Style::kStrong),
                Text(shown_difference(change, c.after), style),
                Text(shown_relative(change), style)});
    }
    grid.draw(width_, lines_);
    lines_.emplace_back();
  }

  void modules() {
    lines_.emplace_back(counts_text(changes_.counts()));
    const auto pairs = changes_.differing(kRows);
    if (pairs.empty()) return;
    std::vector<Text> titles{"", "", ""};
    for (const auto& c : changes_.columns()) {
      titles.emplace_back(c.after.title(), Style::kQuiet);
      titles.emplace_back("");
    }
    Grid grid(std::move(titles), 3, 2);
    const size_t room = width_ > 0 ? std::max<size_t>(width_ / 3, 20) : kNameWidth;
    for (const auto& p : pairs) grid.add(cells(changes_.row(p), room));
    const auto left_out = grid.draw(width_, lines_);
    const auto hidden = changes_.differing_count() - pairs.size();
    if (hidden > 0)
      lines_.emplace_back("… " + std::to_string(hidden) + " more below: --depth all",
                          Style::kQuiet);
    if (left_out > 1)
      lines_.emplace_back("… more columns in a wider window, or by --columns", Style::kQuiet);
    lines_.emplace_back("+ added   - removed   > renamed   ~ redefined", Style::kQuiet);
  }

  std::vector<Text> cells(const Row& row, size_t room) const {
    const auto sign = row.sign();
    const auto style = sign == '+' ? Style::kGood : sign == '-' ? Style::kWarning : Style::kStrong;
    Text path(std::string(2 * std::min<size_t>(row.pair.depth, 10), ' '));
    path.add(plugins::readable(row.path()), sign == ' ' ? Style::kPlain : style);
    path.add(row.calls(), Style::kQuiet);
    std::vector<Text> cells{Text(std::string(1, sign), style), path.cut(room),
                            Text(plugins::readable(row.type()), Style::kType).cut(room)};
    for (size_t c = 0; c < row.changes.size(); ++c) {
      const auto& change = row.changes[c];
      const auto& metric = changes_.columns()[c].after;
      if (row.before && row.after) {
        const auto look = style_of(change, metric);
        cells.emplace_back(shown_in_row(change, metric), look);
        cells.emplace_back(shown_relative(change), look);
      } else {
        cells.emplace_back(reports::shown(row.before ? change.before : change.after, metric));
        cells.emplace_back(row.before ? "gone" : "new", Style::kQuiet);
      }
    }
    return cells;
  }

  void assertions() {
    const auto all = changes_.after().assertions();
    if (all.size() > 0) lines_.emplace_back();
    for (const auto& a : all) {
      Text line(a.holds() ? "holds: " : "does not hold: ",
                a.holds() ? Style::kGood : Style::kWarning);
      line.add(a.expression()).add(" (" + assertion_value(changes_, a) + ")");
      put(text_report::flow(line, width_, 2));
    }
  }

  void notes() {
    for (const auto note : changes_.view().notes()) {
      if (!noted_) lines_.emplace_back();
      noted_ = true;
      put(text_report::flow(Text("note: ", Style::kWarning).add(note), width_, 2));
    }
  }

  void put(std::vector<Text> lines) { lines_.insert(lines_.end(), lines.begin(), lines.end()); }

  const Changes& changes_;
  tmeter::Output& out_;
  text_report::Rendering how_;
  size_t width_;
  bool noted_ = false;
  std::vector<Text> lines_;
};

}  // namespace

void write_text(const Changes& changes, tmeter::Output& out, bool ascii) {
  Writer(changes, out, ascii).write();
}

}  // namespace diff_report
