// Assertions as a build server shows them.
#pragma once
#include <functional>
#include <string>
#include <tmeter/cpp/report.hpp>
#include <vector>

namespace ci_report {

/// "macs is 4,089,184,256", with the reason if it has no value.
std::string outcome(const tmeter::Report& report, const tmeter::AssertionView& assertion);

using Outcome = std::function<std::string(const tmeter::Report& report,
                                          const tmeter::AssertionView& assertion)>;

/// A test suite with a test case for each assertion, as Jenkins, GitLab and others read it. Totals
/// are properties of the suite, warnings its output.
void write_junit(const tmeter::Report& report, tmeter::Output& out,
                 const Outcome& outcome_of = outcome);

/// Workflow commands of GitHub Actions, one per line: an error for an assertion that fails, a
/// notice for one that holds, `notices`, and warnings.
void write_github(const tmeter::Report& report, tmeter::Output& out,
                  const Outcome& outcome_of = outcome,
                  const std::vector<std::string>& notices = {});

}  // namespace ci_report
