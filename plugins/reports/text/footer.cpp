#include <algorithm>
#include <array>
#include <string>
#include <tmeter/cpp/units.hpp>

#include "../common/describe.hpp"
#include "look/look.hpp"
#include "paragraphs.hpp"
#include "tables.hpp"

namespace text_report {

namespace {

using tmeter::Metric;
using tmeter::Tensor;

constexpr size_t kTiesShown = 3;

// Indexed by TMETER_PROVENANCE_…; computed values need no word.
constexpr std::array<std::string_view, 4> kProvenance{"", "measured", "estimated", "unavailable"};
constexpr std::array<std::string_view, 4> kBeforeText{"", ": ", " by ", ": "};

std::string provenance_note(const Metric& metric) {
  const std::string text(metric.provenance_text());
  const auto kind = static_cast<size_t>(metric.provenance());
  if (kind == 0 || kind >= kProvenance.size()) return text;
  std::string note(kProvenance[kind]);
  if (text.empty()) return note;
  return note.append(text.starts_with("by ") ? " " : kBeforeText[kind]).append(text);
}

// The part before the semicolon: the JSON report has the rest.
std::string convention_note(const Metric& metric) {
  const auto text = metric.convention();
  return std::string(text.substr(0, text.find(';')));
}

// Whether an option selects the convention: it begins with the value of an option of this run, such
// as "torch: 1 MAC = 2 FLOPs" with flops.convention=torch. Fixed conventions are shown on request
// only.
bool is_a_choice(const tmeter::Report& report, const Metric& metric) {
  const auto text = metric.convention();
  const auto colon = text.find(':');
  if (colon == text.npos) return false;
  for (const auto& [key, value] : report.config())
    if (value == text.substr(0, colon)) return true;
  return false;
}

// Notes in order of first appearance, each with the titles of its metrics.
class Notes {
 public:
  /// `ids`: beside each title the id of the metric.
  explicit Notes(bool ids) : ids_(ids) {}
  void add(const Metric& metric, const std::string& text, Style style) {
    if (text.empty()) return;
    const auto same = [&](const Note& n) { return n.text == text; };
    auto it = std::find_if(notes_.begin(), notes_.end(), same);
    if (it == notes_.end()) it = notes_.insert(it, {{}, text, style});
    it->titles += (it->titles.empty() ? "" : ", ") + std::string(metric.title());
    if (ids_ && !reports::is_equal_in_any_case(metric.id(), metric.title()))
      it->titles += " (" + std::string(metric.id()) + ")";
  }
  std::vector<Text> lines() const {
    std::vector<Text> lines;
    for (const auto& n : notes_) lines.push_back(Text(n.titles).add(": ").add(n.text, n.style));
    return lines;
  }

 private:
  struct Note {
    std::string titles, text;
    Style style;
  };
  std::vector<Note> notes_;
  bool ids_;
};

}  // namespace

std::vector<tmeter::Tensor> tied_tensors(const tmeter::Graph& graph) {
  std::vector<tmeter::Tensor> tied;
  for (const auto& t : graph.tensors())
    if (t.is_tied()) tied.push_back(t);
  return tied;
}

Text tie_note(const std::vector<tmeter::Tensor>& ties) {
  Text line;
  for (size_t i = 0; i < std::min(kTiesShown, ties.size()); ++i) {
    line.add(i > 0 ? ", " : "† tied, counted once: ");
    line.add(ties[i].name()).add(" = ", Style::kQuiet).add(ties[i].canonical().name());
  }
  if (ties.size() > kTiesShown)
    line.add(", … " + std::to_string(ties.size() - kTiesShown) + " more");
  return line;
}

std::vector<Text> unavailable_notes(const Columns& columns, const View& view) {
  Notes notes(view.all_notes);
  for (const auto& m : columns.unavailable) notes.add(m, provenance_note(m), Style::kWarning);
  return notes.lines();
}

MetricNotes metric_notes(const tmeter::Report& report, const Columns& columns, bool all) {
  Notes conventions(all), provenance(all);
  bool hidden = false;
  for (const auto* list : {&columns.totals, &columns.of_tensors, &columns.facts})
    for (const auto& m : *list) {
      if (all || is_a_choice(report, m))
        conventions.add(m, convention_note(m), Style::kQuiet);
      else
        hidden = true;
    }
  for (const auto* list :
       {&columns.totals, &columns.of_tensors, &columns.facts, &columns.unavailable})
    for (const auto& m : *list) {
      const bool none = m.provenance() == TMETER_PROVENANCE_UNAVAILABLE;
      provenance.add(m, provenance_note(m), none ? Style::kWarning : Style::kQuiet);
    }
  auto lines = conventions.lines();
  for (auto& line : provenance.lines()) lines.push_back(std::move(line));
  return {std::move(lines), hidden};
}

namespace {

using tmeter::Metric;
using tmeter::Report;

constexpr size_t kFooterIndent = 2;
constexpr size_t kUnknownShown = 8;

// "MACs 4,089,184,256", "MACs ≥812": counts exact, everything else scaled.
Text total_item(const Report& report, const Metric& metric, bool raw) {
  const auto cell = report.total(metric);
  const auto kind = metric.unit_kind();
  const bool exact = cell.is_int() && (kind == TMETER_UNIT_COUNT || kind == TMETER_UNIT_OP);
  const auto shown = shown_value(cell, metric, raw);
  std::string number = exact && !raw ? reports::shown_in_full(cell, metric) : shown.number;
  if (!exact && !shown.unit.empty()) number += " " + shown.unit;
  return Text(metric.title(), Style::kQuiet).add(" ").add(number);
}

std::vector<Text> totals(const Report& report, const Columns& columns, bool raw) {
  std::vector<Text> items;
  // Raw columns are exact already.
  if (!raw)
    for (const auto& m : columns.totals)
      if (!report.total(m).empty()) items.push_back(total_item(report, m, raw));
  for (const auto& m : columns.facts)
    if (!report.total(m).empty()) items.push_back(total_item(report, m, raw));
  return items;
}

// "energy: energy 88.12 mJ · …": a paragraph for each plugin, by the last part of its id.
std::vector<Text> totals_by_plugin(const Report& report, const Columns& columns, bool raw,
                                   size_t width) {
  std::vector<std::pair<std::string_view, std::vector<Text>>> plugins;
  for (const auto* list : {&columns.totals, &columns.facts})
    for (const auto& m : *list) {
      if (report.total(m).empty()) continue;
      const auto same = [&](const auto& p) { return p.first == m.plugin(); };
      auto it = std::find_if(plugins.begin(), plugins.end(), same);
      if (it == plugins.end()) it = plugins.insert(it, {m.plugin(), {}});
      it->second.push_back(total_item(report, m, raw));
    }
  std::vector<Text> lines;
  for (auto& [id, items] : plugins) {
    const auto name = id.substr(id.rfind('.') + 1);
    if (items.size() > 1)
      items.front() = Text(name, Style::kStrong).add(": ").append(items.front());
    for (auto& line : flow_items(items, width, kFooterIndent)) lines.push_back(std::move(line));
  }
  return lines;
}

// "175 operators: 54 counted · 121 zero by rule · 0 unknown"
Text coverage_line(const Report& report) {
  const auto c = report.coverage();
  if (tmeter::to_view(c.metric).empty()) return {};
  const uint64_t all = c.counted + c.zero_by_rule + c.unknown;
  Text line(std::to_string(all) + (all == 1 ? " operator: " : " operators: "));
  line.add(std::to_string(c.counted) + " counted").add(" · ", Style::kQuiet);
  line.add(std::to_string(c.zero_by_rule) + " zero by rule").add(" · ", Style::kQuiet);
  return line.add(std::to_string(c.unknown) + " unknown",
                  c.unknown ? Style::kWarning : Style::kGood);
}

// "no rule for acme::fused ×3, acme::gate ×1"
Text unknown_line(const Report& report) {
  const auto ops = report.unknown_ops();
  if (ops.size() == 0) return {};
  Text line("no rule for", Style::kWarning);
  const size_t shown = ops.size() > kUnknownShown + 1 ? kUnknownShown : ops.size();
  for (size_t i = 0; i < shown; ++i) {
    const auto unknown = ops[i];
    line.add(i ? ", " : " ").add(unknown.op);
    line.add(" ×" + std::to_string(unknown.nodes), Style::kQuiet);
  }
  if (shown < ops.size()) line.add(", … " + std::to_string(ops.size() - shown) + " more");
  return line;
}

// "holds: macs<=5G (4,089,184,256)"
std::vector<Text> assertions(const Report& report) {
  std::vector<Text> lines;
  for (const auto& a : report.assertions()) {
    Text line(a.holds() ? "holds: " : "does not hold: ",
              a.holds() ? Style::kGood : Style::kWarning);
    line.add(a.expression());
    lines.push_back(line.add(" (" + reports::describe_value(report, a) + ")", Style::kQuiet));
  }
  return lines;
}

/// "output 0: -0.0381, 0.712, …": of a run, on request.
std::vector<Text> output_lines(const Report& report, size_t width) {
  std::vector<Text> lines;
  for (const auto& [place, values] : reports::output_values(report)) {
    Text line("output " + place + ": ", Style::kQuiet);
    for (auto& part : flow(line.add(values), width, kFooterIndent))
      lines.push_back(std::move(part));
  }
  return lines;
}

Text timing(const Report& report) {
  const auto seconds = reports::analysis_seconds(report);
  if (!seconds) return {};
  const auto scaled = tmeter::scaled(*seconds, TMETER_UNIT_SECOND, "s").text();
  return Text("analysed in " + scaled, Style::kQuiet);
}

Text depth_hint(const Tree& tree, const View& view) {
  if (tree.hidden == 0) return {};
  const char* what = view.by == By::kOperator ? " calls" : " modules";
  const size_t next = tree.depth + 1;
  Text line("… " + std::to_string(tree.hidden) + what + " below: --depth ", Style::kQuiet);
  line.add(std::to_string(next), Style::kQuiet);
  if (next < tree.deepest) line.add(" to " + std::to_string(tree.deepest), Style::kQuiet);
  return line;
}

Text width_hint(const Omissions& omissions) {
  if (omissions.no_room.empty()) return {};
  Text line("… no room in " + std::to_string(omissions.width) + " columns for:", Style::kQuiet);
  const char* separator = " ";
  for (const auto& title : omissions.no_room) {
    line.add(separator, Style::kQuiet).add(title, Style::kQuiet);
    separator = ", ";
  }
  return line.add(" (--columns chooses)", Style::kQuiet);
}

// Metrics without any value in this model need no explanation.
Columns with_values(const Report& report, Columns columns, const Omissions& omissions) {
  const auto is_column = [&](const Metric& m) {
    for (size_t c = 0; c < columns.shown.size(); ++c)
      if (columns.shown[c].id() == m.id())
        return std::find(omissions.no_values.begin(), omissions.no_values.end(), c) ==
               omissions.no_values.end();
    return false;
  };
  std::vector<Metric> kept;
  for (const auto& m : columns.totals)
    if (is_column(m) || !report.total(m).empty()) kept.push_back(m);
  columns.totals = std::move(kept);
  return columns;
}

class Lines {
 public:
  explicit Lines(size_t width) : width_(width) {}
  void put(const Text& text) {
    if (!text.empty()) put(flow(text, width_, kFooterIndent));
  }
  void put(std::vector<Text> lines) {
    for (auto& line : lines) lines_.push_back(std::move(line));
  }
  void gap() {
    if (!lines_.empty() && !lines_.back().empty()) lines_.emplace_back();
  }
  /// Puts `text` at the right edge of the last line if it fits, else on a line of its own.
  void put_right(const Text& text) {
    if (text.empty()) return;
    constexpr size_t kSpace = 3;
    if (lines_.empty() || lines_.back().width() + kSpace + text.width() > width_) return put(text);
    lines_.back().pad_to(width_ - text.width()).append(text);
  }
  std::vector<Text> take() { return std::move(lines_); }

 private:
  size_t width_;
  std::vector<Text> lines_;
};

}  // namespace

std::vector<Text> footer(const Report& report, const Columns& columns, const Tree& tree,
                         const Omissions& omissions, const View& view, std::vector<Text> curves,
                         size_t width) {
  Lines lines(width);
  lines.put(depth_hint(tree, view));
  lines.put(width_hint(omissions));
  lines.gap();
  if (!has_sweep(report))  // the table has the totals
    lines.put(view.summary ? totals_by_plugin(report, columns, view.raw, width)
                           : flow_items(totals(report, columns, view.raw), width, kFooterIndent));
  if (!has_sweep(report)) lines.put(stack_lines(report, width));
  lines.put(formula_lines(report, columns, view.raw, width));
  lines.put(output_lines(report, width));
  lines.put(coverage_line(report));
  lines.put_right(timing(report));
  lines.put(unknown_line(report));
  for (const auto& line : assertions(report)) lines.put(line);
  lines.gap();
  lines.put(std::move(curves));
  lines.gap();
  lines.put(finding_lines(report, columns, view, width));
  lines.gap();
  const auto notes = metric_notes(report, with_values(report, columns, omissions), view.all_notes);
  if (!view.no_notes)
    for (const auto& note : notes.lines) lines.put(note);
  lines.put(tie_note(tree.ties ? *tree.ties : tied_tensors(report.graph())));
  for (const auto& note : tree.legend) lines.put(Text(note));
  for (const auto& warning : report.warnings())
    lines.put(Text("warning: ", Style::kWarning).add(warning));
  if (notes.hidden && !view.no_notes) lines.put(Text("-v explains each value", Style::kQuiet));
  return lines.take();
}

}  // namespace text_report
