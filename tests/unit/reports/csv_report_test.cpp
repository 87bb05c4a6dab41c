// The CSV report on reports made by hand; quoting as RFC 4180 has it.
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
    csv_report::write(r.report(), output);
    return out.text;
  }

  fake::FakeReport r;
  tmeter_module *root, *conv;
  size_t macs, energy;
};

TEST_F(CsvReport, ARowPerModuleWithTheTotalsAtTheRoot) {
  r.set(macs, TMETER_AXIS_MODEL, 0, fake::integer(9007199254740993));  // 2^53 + 1
  r.set(macs, TMETER_AXIS_MODULE, 1, fake::zero_by_rule());
  r.set(energy, TMETER_AXIS_MODEL, 0, fake::real(0.0188));
  EXPECT_EQ(write(),
            "id,path,type,calls,macs,energy\r\n"
            "0,,Net,1,9007199254740993,0.0188\r\n"
            "1,conv,Conv2d,2,0,\r\n");
}

TEST_F(CsvReport, WhatIsNotKnownIsNeverZero) {
  r.set(macs, TMETER_AXIS_MODEL, 0, fake::unknown());
  r.set(energy, TMETER_AXIS_MODEL, 0, fake::unavailable());
  r.set(macs, TMETER_AXIS_MODULE, 1, fake::real(std::nan("")));
  EXPECT_EQ(write(),
            "id,path,type,calls,macs,energy\r\n"
            "0,,Net,1,n/a,n/a\r\n"
            "1,conv,Conv2d,2,nan,\r\n");
}

TEST_F(CsvReport, SizesThatAreNotTheFilesAreSaidInEveryRow) {
  r.properties["sizes"] = "sizes worked out for x=2x3, y=4";
  EXPECT_EQ(write(),
            "id,path,type,calls,macs,energy,sizes\r\n"
            "0,,Net,1,,,\"sizes worked out for x=2x3, y=4\"\r\n"
            "1,conv,Conv2d,2,,,\"sizes worked out for x=2x3, y=4\"\r\n");
}

TEST_F(CsvReport, FieldsAreQuotedWhereTheyMustBe) {
  EXPECT_EQ(csv_report::field("plain name"), "plain name");
  EXPECT_EQ(csv_report::field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_report::field("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(csv_report::field("a\r\nb"), "\"a\r\nb\"");
  conv->path = "a,\"b\"\n";
  EXPECT_NE(write().find("1,\"a,\"\"b\"\"\n\",Conv2d,2,,\r\n"), std::string::npos);
}

TEST_F(CsvReport, ASweepHasARowPerPoint) {
  const std::string b = "s1", s = "s2";
  r.symbols.push_back({sizeof(tmeter_symbol_info), 0, fake::str(b), 1, 64, 8, {}});
  r.symbols.push_back({sizeof(tmeter_symbol_info), 0, fake::str(s), 2, 512, 32, {}});
  r.sweep = {
      {1, 0}, {{16, 1}, {16, 2}}, {{fake::integer(7), fake::real(0.5)}, {fake::integer(9), {}}}};
  EXPECT_EQ(write(), "s2,s1,macs,energy\r\n16,1,7,0.5\r\n16,2,9,\r\n");
}

TEST_F(CsvReport, ColumnsChoosesAndRefusesWhatIsNotThere) {
  r.views = {{"columns", "energy"}};
  EXPECT_EQ(write().substr(0, 27), "id,path,type,calls,energy\r\n");
  r.views = {{"columns", "energie"}};
  EXPECT_THROW(write(), tmeter::Error);
}

}  // namespace
