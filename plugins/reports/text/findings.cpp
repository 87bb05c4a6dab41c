#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "../common/describe.hpp"
#include "look/look.hpp"
#include "paragraphs.hpp"

namespace text_report {
namespace {

using tmeter::FindingView;
using tmeter::Report;

constexpr size_t kShownPerRule = 5;
constexpr size_t kFindingIndent = 2;

struct Severity {
  std::string_view name;
  Style style;
};
// Indexed by TMETER_SEVERITY_….
constexpr std::array<Severity, 4> kSeverities{{{"info", Style::kQuiet},
                                               {"advice", Style::kGood},
                                               {"warning", Style::kWarning},
                                               {"error", Style::kWarning}}};

Severity severity_of(const FindingView& finding) {
  const auto i = static_cast<size_t>(finding.severity());
  return i < kSeverities.size() ? kSeverities[i] : kSeverities[0];
}

// "info: activations peak at 30.6 MiB: evidence": an info takes one line.
Text line_of(const Report& report, const FindingView& finding) {
  const auto severity = severity_of(finding);
  Text line(std::string(severity.name) + ": ", severity.style);
  line.add(finding.text());
  if (!finding.evidence().empty())
    line.add(": ", Style::kQuiet).add(finding.evidence(), Style::kQuiet);
  for (const auto& change : finding.changes()) {
    const auto text = reports::describe_change(report, change);
    if (!text.empty()) line.add("; ", Style::kQuiet).add(text);
  }
  if (!finding.action().empty()) line.add(" – ", Style::kQuiet).add(finding.action());
  return line;
}

// Advice, warnings and errors take a paragraph: text, evidence, changes, action.
void add_paragraph(const Report& report, const FindingView& finding, size_t width,
                   std::vector<Text>& lines) {
  const auto severity = severity_of(finding);
  const Text head(std::string(severity.name) + ": ", severity.style);
  for (auto& line : flow(Text(head).add(finding.text(), Style::kStrong), width, kFindingIndent))
    lines.push_back(std::move(line));
  const size_t room = width > kFindingIndent ? width - kFindingIndent : width;
  const auto put_below = [&](std::string_view mark, std::string_view text, Style style) {
    if (text.empty()) return;
    for (const auto& line : flow(Text(mark, Style::kQuiet).add(text, style), room, kFindingIndent))
      lines.push_back(Text().pad_to(kFindingIndent).append(line));
  };
  put_below("", finding.evidence(), Style::kQuiet);
  for (const auto& change : finding.changes())
    put_below("", reports::describe_change(report, change), {});
  put_below("→ ", finding.action(), Style::kPlain);
}

}  // namespace

std::vector<Text> finding_lines(const Report& report, const Columns& columns, const View& view,
                                size_t width) {
  const auto& quiet = columns.brief_plugins;
  const auto is_for_verbose = [&](const FindingView& f) {
    return !view.all_notes && f.severity() == TMETER_SEVERITY_INFO &&
           std::find(quiet.begin(), quiet.end(), f.plugin()) != quiet.end();
  };
  std::map<std::string_view, size_t> seen;
  std::vector<Text> lines;
  for (const auto& finding : report.findings()) {
    if (is_for_verbose(finding)) continue;
    if (++seen[finding.rule()] > kShownPerRule) continue;
    if (view.summary) {
      const auto severity = severity_of(finding);
      const Text head(std::string(severity.name) + ": ", severity.style);
      for (auto& line : flow(Text(head).add(finding.text()), width, kFindingIndent))
        lines.push_back(std::move(line));
    } else if (finding.severity() == TMETER_SEVERITY_INFO) {
      for (auto& line : flow(line_of(report, finding), width, kFindingIndent))
        lines.push_back(std::move(line));
    } else {
      add_paragraph(report, finding, width, lines);
    }
  }
  for (const auto& [rule, count] : seen) {
    if (count <= kShownPerRule) continue;
    lines.push_back(Text("… " + std::to_string(count - kShownPerRule) + " more of " +
                             std::string(rule) + " in the JSON report",
                         Style::kQuiet));
  }
  if (view.summary && !lines.empty())
    lines.push_back(
        Text("evidence and actions: --report analysis.txt, report.html", Style::kQuiet));
  return lines;
}

}  // namespace text_report
