// What a build server shows of --assert.
#pragma once
#include <string>
#include <tmeter/cpp/report.hpp>

namespace ci_report {

/// A test suite with a test case for each assertion, as Jenkins, GitLab and others read it. Totals
/// are properties of the suite, warnings its output.
void write_junit(const tmeter::Report& report, tmeter::Output& out);

/// Workflow commands of GitHub Actions, a line each: an error for what does not hold, a notice for
/// what does, and warnings.
void write_github(const tmeter::Report& report, tmeter::Output& out);

/// "macs is 4,089,184,256", with the reason when there is no figure.
std::string outcome(const tmeter::Report& report, const tmeter::AssertionView& assertion);

}  // namespace ci_report
