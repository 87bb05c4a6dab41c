#include "writers.hpp"

#include <array>

#include "../common/buffer.hpp"
#include "../common/cells.hpp"
#include "../common/columns.hpp"
#include "../common/describe.hpp"
#include "../xml/stream.hpp"
#include "plugins/common/utf8.hpp"

namespace ci_report {
namespace {

// Format: https://docs.github.com/actions/reference/workflow-commands-for-github-actions

// Indexed by TMETER_SEVERITY_…; infos have no annotation.
constexpr std::array<std::string_view, 4> kCommands{"", "notice", "warning", "error"};

// actions/toolkit, command.ts: characters to escape in a value; in a property ':' and ',', too.
std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : plugins::printable(text)) {
    if (c == '%')
      out += "%25";
    else if (property && c == ':')
      out += "%3A";
    else if (property && c == ',')
      out += "%2C";
    else
      out += c;
  }
  return out;
}

void put(reports::Buffer& out, std::string_view command, std::string_view title,
         std::string_view text) {
  constexpr size_t kMaxMessage = 4000;  // GitHub cuts at about 4 KB, in the middle of a character
  out << "::" << command << " title=" << escaped(plugins::readable(title), true)
      << "::" << escaped(plugins::shortened(text, kMaxMessage), false) << "\n";
}

}  // namespace

void write_github(const tmeter::Report& report, tmeter::Output& output, const Outcome& outcome_of,
                  const std::vector<std::string>& notices) {
  reports::Buffer out(output);
  const auto model = "tmeter " + std::string(report.property("model.file"));
  for (const auto& a : report.assertions())
    put(out, a.holds() ? "notice" : "error", model,
        std::string(a.expression()) + (a.holds() ? " holds: " : " does not hold: ") +
            outcome_of(report, a));
  for (const auto& text : notices) put(out, "notice", model, text);
  for (const auto& text : report.warnings()) put(out, "warning", model, text);
  if (const auto unknown = reports::describe_unknown(report); !unknown.empty())
    put(out, "warning", model, unknown);
  for (const auto& f : report.findings()) {
    const auto i = static_cast<size_t>(f.severity());
    if (i >= kCommands.size() || kCommands[i].empty()) continue;
    put(out, kCommands[i], model,
        std::string(f.text()) + (f.action().empty() ? "" : " – " + std::string(f.action())));
  }
  out.flush();
}

// Format: junit-10.xsd of Jenkins' xUnit plugin, which GitLab and others read, too. Other schemas
// demand time and host of the run, which are left out so that equal runs give equal reports.

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
  if (value.in_module()) return subject + " is part of the value of an enclosing module";
  if (value.empty()) return subject + " has no value";
  return subject + " is " + reports::describe_value(report, a);
}

void write_junit(const Report& report, tmeter::Output& out, const Outcome& outcome_of) {
  const auto assertions = report.assertions();
  size_t failures = 0;
  for (const auto& a : assertions) failures += !a.holds();
  const auto seconds = reports::analysis_seconds(report);
  auto time = std::to_string(seconds.value_or(0));  // "0.010000"
  time.resize(time.size() - 3);                     // to the millisecond, as in the schema
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
