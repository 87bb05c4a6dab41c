// Assertions as a build server shows them.
#pragma once
#include <string>
#include <tmeter/cpp/report.hpp>

namespace ci_report {

/// A test suite with a test case for each assertion, as Jenkins, GitLab and others read it. Totals
/// are properties of the suite, warnings its output.
void write_junit(const tmeter::Report& report, tmeter::Output& out);

/// Workflow commands of GitHub Actions, one per line: an error for an assertion that fails, a
/// notice for one that holds, and warnings.
void write_github(const tmeter::Report& report, tmeter::Output& out);

/// "macs is 4,089,184,256", with the reason if it has no value.
std::string outcome(const tmeter::Report& report, const tmeter::AssertionView& assertion);

}  // namespace ci_report
