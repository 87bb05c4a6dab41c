// Every writer on the report with every kind of value. golden/ has the expected output, which
// third-party parsers read in tests/reports/test_golden.py.
//
//   TMETER_UPDATE_GOLDEN=1 build/release/tests/golden_report_tests
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>

#include "plugins/reports/ci/writers.hpp"
#include "plugins/reports/csv/writer.hpp"
#include "plugins/reports/dot/writer.hpp"
#include "plugins/reports/full_text/writer.hpp"
#include "plugins/reports/json/writer.hpp"
#include "plugins/reports/markdown/writer.hpp"
#include "plugins/reports/netron/writer.hpp"
#include "plugins/reports/xml/writer.hpp"
#include "tests/unit/reports/every_value.hpp"

namespace {

using Write = std::function<void(const tmeter::Report&, tmeter::Output&)>;
using Views = std::map<std::string, std::string>;

struct Case {
  std::string file;  // in golden/
  Write write;
  Views views{};
  bool sweep = false;

  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.file; }
};

Write csv(csv_report::Options options) {
  return [options](const auto& report, auto& out) { csv_report::write(report, options, out); };
}
Write dot(dot_report::Options options) {
  return [options](const auto& report, auto& out) { dot_report::write(report, options, out); };
}
void full_text(const tmeter::Report& report, tmeter::Output& out) {
  full_text_report::write(report, out, false);
}
void markdown(const tmeter::Report& report, tmeter::Output& out) {
  markdown_report::write(report, {}, out);
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"modules.csv", csv({})},
      {"operators.csv", csv({}), {{"by", "operator"}}},
      {"calls.csv", csv({}), {{"by", "operator"}, {"depth", "2"}}},
      {"types.csv", csv({}), {{"by", "type"}}},
      {"modules_by_type.csv", csv({.leading_dot = true}), {{"by", "type"}, {"depth", "2"}}},
      {"tensors.csv", csv({.guard_formulas = true}), {{"by", "tensor"}}},
      {"sweep.csv", csv({}), {}, true},
      {"modules.tsv", csv({.format = csv_report::Format::kTsv})},
      {"report.md", markdown},
      {"sweep.md", markdown, {}, true},
      {"modules.dot", dot({.attributes = "type,text,calls,macs,energy"})},
      {"operators.dot", dot({.operators = true, .attributes = "module,result,location,macs"})},
      {"report.txt", full_text},
      {"report.xml", xml_report::write},
      {"sweep.xml", xml_report::write, {}, true},
      {"report.json", json_report::write},
      {"netron.json", netron_report::write},
      {"junit.xml", [](auto& report, auto& out) { ci_report::write_junit(report, out); }},
      {"github.txt", [](auto& report, auto& out) { ci_report::write_github(report, out); }},
  };
  return all;
}

void prepare(fake::EveryValue& report, const Case& c) {
  report.views = c.views;
  if (!c.sweep) return;
  std::vector<tmeter_number> values(report.metrics.size(), fake::integer(7));
  values[0] = fake::at_least(7);
  report.sweep = {{0}, {{1}, {64}}, {values, std::vector(report.metrics.size(), fake::unknown())}};
}

class Golden : public testing::TestWithParam<Case> {};

TEST_P(Golden, EqualsTheGoldenFile) {
  fake::EveryValue report;
  prepare(report, GetParam());
  tmeter_output out;
  tmeter::Output output(&out);
  GetParam().write(report.report(), output);

  const auto path = std::string(GOLDEN_FOLDER) + "/" + GetParam().file;
  if (std::getenv("TMETER_UPDATE_GOLDEN")) std::ofstream(path, std::ios::binary) << out.text;
  std::stringstream golden;
  golden << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(golden.str(), out.text) << "TMETER_UPDATE_GOLDEN=1 writes " << path << " again";
}

// Every report is longer than this; the disk fills up in the middle of it.
TEST_P(Golden, AFullDiskIsAnError) {
  fake::EveryValue report;
  prepare(report, GetParam());
  tmeter_output out;
  out.room = 20;
  tmeter::Output output(&out);
  EXPECT_THROW(GetParam().write(report.report(), output), tmeter::Error);
}

TEST_P(Golden, AnEmptyReportIsWritten) {
  fake::FakeReport nothing;
  for (const auto* id : {"macs", "energy"}) nothing.metric({.id = id});  // some cases name them
  tmeter_output out;
  tmeter::Output output(&out);
  EXPECT_NO_THROW(GetParam().write(nothing.report(), output));
}

// github has no place for facts about the whole run; its warning states the same.
TEST_P(Golden, SizesThatDifferFromTheFilesAreStated) {
  if (GetParam().sweep || GetParam().file == "github.txt") return;
  fake::EveryValue report;
  prepare(report, GetParam());
  const std::string sizes = "worked out for x=8x4", of_file = "; the file records 1x4";
  report.properties["sizes"] = sizes + of_file;
  report.graph_properties["sizes"] = sizes + of_file;  // JSON has this in separate members
  tmeter_output out;
  tmeter::Output output(&out);
  GetParam().write(report.report(), output);
  EXPECT_NE(out.text.find(sizes), std::string::npos) << out.text;
}

std::string test_name(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.file;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Reports, Golden, testing::ValuesIn(cases()), test_name);

// A name of a megabyte is harmless in a table for programs; in text for people it would fill the
// screen.
TEST(LongNames, AreCutInHumanReadableFormats) {
  fake::FakeReport r;
  auto* root = r.module(nullptr, "", "Net");
  r.module(root, std::string(1 << 20, 'x'), "Layer");
  const auto macs = r.metric({.id = "macs", .title = "MACs"});
  for (size_t i = 0; i < 2; ++i) r.set(macs, TMETER_AXIS_MODULE, i, fake::integer(1));
  r.set(macs, TMETER_AXIS_MODEL, 0, fake::integer(1));
  for (const auto& write : {Write(markdown), dot({}), Write(full_text)}) {
    tmeter_output out;
    tmeter::Output output(&out);
    write(r.report(), output);
    EXPECT_LT(out.text.size(), 20'000u);
  }
}

}  // namespace
