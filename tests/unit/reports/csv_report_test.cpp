// The CSV report on hand-made reports; quoting follows RFC 4180.
#include <gtest/gtest.h>

#include <cmath>

#include "plugins/reports/csv/writer.hpp"
#include "tests/unit/reports/fake_report.hpp"

namespace {

class CsvReport : public testing::Test {
 protected:
  CsvReport() {
    root = r.module(nullptr, "", "acme.Net");
    conv = r.module(root, "conv", "torch.nn.Conv2d", 2);
    macs = r.metric({.id = "macs", .title = "MACs"});
    energy = r.metric({.id = "energy", .title = "energy"});
  }
  std::string write() {
    tmeter_output out;
    tmeter::Output output(&out);
    csv_report::write(r.report(), options, output);
    return out.text;
  }

  csv_report::Options options{};

  fake::FakeReport r;
  tmeter_module *root, *conv;
  size_t macs, energy;
};

TEST_F(CsvReport, ARowPerModuleWithTheTotalsAtTheRoot) {
  r.set(macs, TMETER_AXIS_MODEL, 0, fake::integer(9007199254740993));  // 2^53 + 1
  r.set(macs, TMETER_AXIS_MODULE, 1, fake::zero_by_rule());
  r.set(energy, TMETER_AXIS_MODEL, 0, fake::real(0.0188));
  EXPECT_EQ(write(),
            "id,path,type,calls,macs,energy,notes\r\n"
            "0,,Net,1,9007199254740993,0.0188,\r\n"
            "1,conv,Conv2d,2,0,,macs: zero_by_rule\r\n");
}

TEST_F(CsvReport, UnknownValuesAreNeverZero) {
  r.set(macs, TMETER_AXIS_MODEL, 0, fake::unknown());
  r.set(energy, TMETER_AXIS_MODEL, 0, fake::unavailable());
  r.set(macs, TMETER_AXIS_MODULE, 1, fake::real(std::nan("")));
  EXPECT_EQ(write(),
            "id,path,type,calls,macs,energy,notes\r\n"
            "0,,Net,1,n/a,n/a,macs: unknown; energy: unavailable\r\n"
            "1,conv,Conv2d,2,nan,,macs: not_finite\r\n");
}

TEST_F(CsvReport, SizesThatDifferFromTheFilesAreStatedInEveryRow) {
  r.properties["sizes"] = "sizes worked out for x=2x3, y=4";
  EXPECT_EQ(write(),
            "id,path,type,calls,macs,energy,sizes,notes\r\n"
            "0,,Net,1,,,\"sizes worked out for x=2x3, y=4\",\r\n"
            "1,conv,Conv2d,2,,,\"sizes worked out for x=2x3, y=4\",\r\n");
}

TEST_F(CsvReport, FieldsAreQuotedWhereRequired) {
  EXPECT_EQ(csv_report::field("plain name", options), "plain name");
  EXPECT_EQ(csv_report::field("a,b", options), "\"a,b\"");
  EXPECT_EQ(csv_report::field("a\"b", options), "\"a\"\"b\"");
  EXPECT_EQ(csv_report::field("a\r\nb", options), "\"a\r\nb\"");
  conv->path = "a,\"b\"\n";
  EXPECT_NE(write().find("1,\"a,\"\"b\"\"\n\",Conv2d,2,,,\r\n"), std::string::npos);
}

TEST_F(CsvReport, ASweepHasARowPerPoint) {
  const std::string b = "s1", s = "s2";
  r.symbols.push_back({sizeof(tmeter_symbol_info), 0, fake::str(b), 1, 64, 8, {}});
  r.symbols.push_back({sizeof(tmeter_symbol_info), 0, fake::str(s), 2, 512, 32, {}});
  r.sweep = {
      {1, 0}, {{16, 1}, {16, 2}}, {{fake::integer(7), fake::real(0.5)}, {fake::integer(9), {}}}};
  EXPECT_EQ(write(), "s2,s1,macs,energy,notes\r\n16,1,7,0.5,\r\n16,2,9,,\r\n");
}

TEST_F(CsvReport, ColumnsSelectsMetricsAndRefusesUnknownOnes) {
  r.views = {{"columns", "energy"}};
  EXPECT_EQ(write().substr(0, 33), "id,path,type,calls,energy,notes\r\n");
  r.views = {{"columns", "energie"}};
  EXPECT_THROW(write(), tmeter::Error);
}

TEST_F(CsvReport, TsvHasALineForEveryRow) {
  options.format = csv_report::Format::kTsv;
  conv->path = "a\tb\nc\\d,\"e\"";
  r.set(macs, TMETER_AXIS_MODULE, 1, fake::integer(5));
  EXPECT_EQ(write(),
            "id\tpath\ttype\tcalls\tmacs\tenergy\tnotes\n"
            "0\t\tNet\t1\t\t\t\n"
            "1\ta\\tb\\nc\\\\d,\"e\"\tConv2d\t2\t5\t\t\n");
}

TEST_F(CsvReport, PathsHaveALeadingDotOnDemand) {
  options.leading_dot = true;
  EXPECT_NE(write().find("\r\n0,.,Net"), std::string::npos);
  EXPECT_NE(write().find("\r\n1,.conv,Conv2d"), std::string::npos);
}

TEST_F(CsvReport, FormulasAreGuardedUnlessTheGuardIsSwitchedOff) {
  for (const std::string_view formula : {"=1+1",
                                         "+cmd",
                                         "-2+3",
                                         "@SUM(A1)",
                                         "＝1",
                                         "＋1",
                                         "－1",
                                         "＠a",
                                         " =1",
                                         "\u00a0=1",
                                         "\ufeff=1",
                                         "\u3000＝1",
                                         "\u200b \u200b@x",
                                         "\x01=1",
                                         "-",
                                         "--1",
                                         "+-1",
                                         "-1-1",
                                         "-inf",
                                         "=",
                                         "-1,5"})
    EXPECT_LE(csv_report::field(formula, options).find('\''), 1u) << formula;
  EXPECT_EQ(csv_report::field("\t=1", options), "'\t=1");
  EXPECT_EQ(csv_report::field("\r=1", options), "\"'\r=1\"");
  EXPECT_EQ(csv_report::field("\n=1", options), "\"'\n=1\"");
  for (const std::string_view text : {"conv", "layer1.0", "", "1x3", "-1", "+5", "-1.5e3", ".5",
                                      "1e-9", "a=b", "a-b", " conv", "\u00e9"})
    EXPECT_EQ(csv_report::field(text, options), text);
  options.guard_formulas = false;
  EXPECT_EQ(csv_report::field("=1+1", options), "=1+1");
}

TEST_F(CsvReport, OperatorsByNameAndEveryCall) {
  for (int i = 0; i < 2; ++i) r.node(conv, "aten::conv2d")->location = "net.py:3";
  r.set(macs, TMETER_AXIS_NODE, 0, fake::integer(7));
  r.set(macs, TMETER_AXIS_NODE, 1, fake::unknown());
  r.views = {{"by", "operator"}, {"columns", "macs"}};
  EXPECT_EQ(write(), "operator,calls,macs,notes\r\naten::conv2d,2,7,macs: lower_bound\r\n");
  r.views["depth"] = "2";
  EXPECT_EQ(write(),
            "index,operator,overload,module,location,result,macs,notes\r\n"
            "0,aten::conv2d,,conv,net.py:3,,7,\r\n"
            "1,aten::conv2d,,conv,net.py:3,,n/a,macs: unknown\r\n");
}

TEST_F(CsvReport, ALowerBoundIsMarked) {
  r.set(macs, TMETER_AXIS_MODEL, 0, fake::at_least(3));
  EXPECT_NE(write().find("0,,Net,1,3,,macs: lower_bound\r\n"), std::string::npos);
}

TEST_F(CsvReport, AFullDiskIsAnError) {
  tmeter_output out;
  out.room = 10;
  tmeter::Output output(&out);
  EXPECT_THROW(csv_report::write(r.report(), options, output), tmeter::Error);
}

}  // namespace
