#include "notes.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace text_report {
namespace {

using tmeter::Metric;
using tmeter::Tensor;

constexpr size_t kTiesShown = 3;

// By TMETER_PROVENANCE_…; computed is what a reader expects and needs no word.
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

// The main clause: what follows a semicolon is detail, which the JSON report has in full.
std::string convention_note(const Metric& metric) {
  const auto text = metric.convention();
  return std::string(text.substr(0, text.find(';')));
}

// Whether the convention is one of several: it begins with the value of an option of this run, as
// "torch: 1 MAC = 2 FLOPs" with flops.convention=torch. What is always the same is known to who has
// read it once.
bool is_a_choice(const tmeter::Report& report, const Metric& metric) {
  const auto text = metric.convention();
  const auto colon = text.find(':');
  if (colon == text.npos) return false;
  for (const auto& [key, value] : report.config())
    if (value == text.substr(0, colon)) return true;
  return false;
}

// Notes in order of first appearance, each with the titles of the metrics it is true of.
class Notes {
 public:
  void add(const Metric& metric, const std::string& text, Style style) {
    if (text.empty()) return;
    const auto same = [&](const Note& n) { return n.text == text; };
    auto it = std::find_if(notes_.begin(), notes_.end(), same);
    if (it == notes_.end()) it = notes_.insert(it, {{}, text, style});
    it->titles += (it->titles.empty() ? "" : ", ") + std::string(metric.title());
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

MetricNotes metric_notes(const tmeter::Report& report, const Columns& columns, bool all) {
  Notes conventions, provenance;
  bool hidden = false;
  for (const auto* list : {&columns.shown, &columns.of_tensors, &columns.facts})
    for (const auto& m : *list) {
      if (all || is_a_choice(report, m))
        conventions.add(m, convention_note(m), Style::kQuiet);
      else
        hidden = true;
    }
  for (const auto* list :
       {&columns.shown, &columns.of_tensors, &columns.facts, &columns.unavailable})
    for (const auto& m : *list) {
      const bool none = m.provenance() == TMETER_PROVENANCE_UNAVAILABLE;
      provenance.add(m, provenance_note(m), none ? Style::kWarning : Style::kQuiet);
    }
  auto lines = conventions.lines();
  for (auto& line : provenance.lines()) lines.push_back(std::move(line));
  return {std::move(lines), hidden};
}

}  // namespace text_report
