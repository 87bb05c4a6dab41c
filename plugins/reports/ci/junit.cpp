// Format: junit-10.xsd of Jenkins' xUnit plugin, which GitLab and others read, too. Other schemas
// demand time and host of the run, which are left out so that equal runs give equal reports.
#include "../common/cells.hpp"
#include "../common/columns.hpp"
#include "../common/describe.hpp"
#include "../xml/stream.hpp"
#include "plugins/common/utf8.hpp"
#include "writers.hpp"

namespace ci_report {
namespace {

using tmeter::Report;

void properties(xml_report::Stream& xml, const Report& report) {
  xml.open("properties");
  if (const auto sizes = report.property("sizes"); !sizes.empty())
    xml.element("property")
        .attribute("name", "sizes")
        .attribute("value", plugins::printable(sizes));
  for (const auto& metric : report.metrics()) {
    const auto total = report.total(metric);
    if (total.empty()) continue;
    const auto status = reports::status_of(total, metric);
    auto value = total.known() ? reports::plain_number(total) : std::string();
    if (status) value += (value.empty() ? "" : " ") + ("(" + std::string(*status) + ")");
    xml.element("property").attribute("name", metric.id()).attribute("value", value);
  }
  xml.close();
}

std::string warnings(const Report& report) {
  std::string text;
  for (const auto& w : report.warnings()) text += plugins::printable(w) + "\n";
  return text;
}

}  // namespace

std::string outcome(const Report& report, const tmeter::AssertionView& a) {
  const auto value = a.value();
  const auto subject = std::string(a.subject());
  if (value.is_unknown()) return subject + " is not known: operators without a rule";
  if (value.is_unavailable()) return subject + " is not available from this file or machine";
  if (value.in_module()) return subject + " is part of the figure of a module around it";
  if (value.empty()) return subject + " has no figure";
  return subject + " is " + reports::describe_value(report, a);
}

void write_junit(const Report& report, tmeter::Output& out, const Outcome& outcome_of) {
  const auto assertions = report.assertions();
  size_t failures = 0;
  for (const auto& a : assertions) failures += !a.holds();
  const auto seconds = reports::analysis_seconds(report);
  auto time = std::to_string(seconds.value_or(0));  // "0.010000"
  time.resize(time.size() - 3);                     // to the millisecond, as the schema has it
  const auto suite = "tmeter " + std::string(report.property("model.file"));
  const auto name = plugins::readable(reports::model_name(report));

  xml_report::Stream xml(out);
  xml.open("testsuites").attribute("tests", assertions.size()).attribute("failures", failures);
  xml.open("testsuite").attribute("name", plugins::readable(suite));
  xml.attribute("tests", assertions.size()).attribute("failures", failures);
  xml.attribute("errors", "0").attribute("skipped", "0").attribute("time", time);
  properties(xml, report);
  for (const auto& a : assertions) {
    xml.open("testcase").attribute("name", plugins::printable(a.expression()));
    xml.attribute("classname", name).attribute("time", "0");
    if (!a.holds()) {
      const auto text = plugins::printable(outcome_of(report, a));
      xml.element("failure").attribute("message", text).attribute("type", "assertion").text(text);
    }
    xml.close();
  }
  xml.element("system-out").text(warnings(report));
  xml.close();
  xml.close();
  xml.finish();
}

}  // namespace ci_report
