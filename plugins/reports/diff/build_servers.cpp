// A comparison for a build server: bounds as GitHub's annotations and JUnit's tests, changes as
// notices.
#include "../ci/writers.hpp"
#include "changes.hpp"

namespace diff_report {
namespace {

ci_report::Outcome outcome_in(const Changes& changes) {
  return [&changes](const tmeter::Report& report, const tmeter::AssertionView& a) {
    if (!a.value().known()) return ci_report::outcome(report, a);
    return std::string(a.subject()) + " is " + assertion_value(changes, a);
  };
}

/// "MACs 4,089,184,256 → 4,100,000,000 (+0.3 %)" of each total that differs, and the notes.
std::vector<std::string> notices(const Changes& changes) {
  std::vector<std::string> out;
  for (const auto& c : changes.columns()) {
    const auto change = changes.total(c);
    if (!change.differs()) continue;
    const auto relative = shown_relative(change);
    out.push_back(std::string(c.after.title()) + " " +
                  reports::shown_in_full(change.before, c.before) + " → " +
                  reports::shown_in_full(change.after, c.after) +
                  (relative.empty() ? "" : " (" + relative + ")"));
  }
  out.push_back(counts_text(changes.counts()));
  for (const auto note : changes.view().notes()) out.emplace_back(note);
  return out;
}

}  // namespace

void write_github(const Changes& changes, tmeter::Output& out) {
  ci_report::write_github(changes.after(), out, outcome_in(changes), notices(changes));
}

void write_junit(const Changes& changes, tmeter::Output& out) {
  ci_report::write_junit(changes.after(), out, outcome_in(changes));
}

}  // namespace diff_report
