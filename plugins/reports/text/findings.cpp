#include "findings.hpp"

#include <array>
#include <map>
#include <string>
#include <tmeter/cpp/units.hpp>

namespace text_report {
namespace {

using tmeter::FindingView;
using tmeter::Report;

constexpr size_t kShownPerRule = 5;

struct Severity {
  std::string_view name;
  Style style;
};
// By TMETER_SEVERITY_….
constexpr std::array<Severity, 4> kSeverities{{{"info", Style::kQuiet},
                                               {"advice", Style::kGood},
                                               {"warning", Style::kWarning},
                                               {"error", Style::kWarning}}};

Severity severity_of(const FindingView& finding) {
  const auto i = static_cast<size_t>(finding.severity());
  return i < kSeverities.size() ? kSeverities[i] : kSeverities[0];
}

// "param mem 97.49 MiB → 24.40 MiB"
std::string change_text(const Report& report, const tmeter_change& change) {
  for (const auto& m : report.metrics()) {
    if (m.id() != tmeter::to_view(change.metric)) continue;
    const auto text = [&](double v) { return tmeter::scaled(v, m.unit_kind(), m.unit()).text(); };
    return std::string(m.title()) + " " + text(change.from) + " → " + text(change.to);
  }
  return {};
}

Text line_of(const Report& report, const FindingView& finding) {
  const auto severity = severity_of(finding);
  Text line(std::string(severity.name) + ": ", severity.style);
  line.add(finding.text());
  if (!finding.evidence().empty())
    line.add(": ", Style::kQuiet).add(finding.evidence(), Style::kQuiet);
  for (const auto& change : finding.changes()) {
    const auto text = change_text(report, change);
    if (!text.empty()) line.add("; ", Style::kQuiet).add(text);
  }
  if (!finding.action().empty()) line.add(" – ", Style::kQuiet).add(finding.action());
  return line;
}

}  // namespace

std::vector<Text> finding_lines(const Report& report) {
  std::map<std::string_view, size_t> seen;
  std::vector<Text> lines;
  for (const auto& finding : report.findings()) {
    if (++seen[finding.rule()] <= kShownPerRule) lines.push_back(line_of(report, finding));
  }
  for (const auto& [rule, count] : seen) {
    if (count <= kShownPerRule) continue;
    lines.push_back(Text("… " + std::to_string(count - kShownPerRule) + " more of " +
                             std::string(rule) + " in the JSON report",
                         Style::kQuiet));
  }
  return lines;
}

}  // namespace text_report
