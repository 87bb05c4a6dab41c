// A saved report read back: a document written by hand, and invalid variants of it.
#include "core/report_reader/saved_report.hpp"

#include <gtest/gtest.h>

#include "tests/support/expect_error.hpp"

namespace tmeter::core {
namespace {
using testing::expect_error;

/// A linear layer with two parameters, one of them without a value, and one operator.
constexpr std::string_view kDocument = R"json({
  "schema": "tmeter-report/1",
  "tool": {"name": "tmeter", "version": "1.2"},
  "model": {"file": "net.pt2", "size": 1234, "name": "Net", "format": "pt2"},
  "metrics": [
    {"id": "params", "title": "Params", "unit": "", "unit_kind": "count", "axis": "tensor",
     "aggregation": "sum", "better": "lower", "detail": false, "convention": "each once",
     "provenance": {"kind": "computed"}, "plugin": "org.tmeter.params"},
    {"id": "macs", "title": "MACs", "unit": "MAC", "unit_kind": "op", "axis": "node",
     "aggregation": "sum", "better": "lower", "detail": true, "convention": "multiplications",
     "provenance": {"kind": "estimated", "text": "by hand"}, "plugin": "org.tmeter.flops"}],
  "totals": {"params": 8, "macs": 6},
  "totals_status": {"macs": "lower_bound"},
  "symbols": [],
  "modules": [
    {"id": "0", "name": "", "path": "", "qualified_type": "Net", "calls": 1, "text": "Net",
     "values": {"params": 8, "macs": 6}, "lower_bound": ["macs"]},
    {"id": "1", "parent": "0", "name": "fc", "path": "fc", "qualified_type": "Linear", "calls": 1,
     "text": "Linear(3, 2)", "values": {"params": 8, "macs": null}, "unknown": ["macs"]}],
  "module_calls": [{"module": 0}, {"module": 1, "parent": 0}],
  "tensors": [
    {"index": 0, "name": "fc.weight", "kind": "parameter", "dtype": "float32", "shape": [2, 3],
     "owner": "fc", "trainable": true, "values": {"params": 6}},
    {"index": 1, "name": "fc.bias", "kind": "parameter", "dtype": "float32", "shape": [2],
     "owner": "fc", "trainable": true, "values": {"params": 2}}],
  "inputs": [],
  "nodes": [
    {"index": 0, "op": "aten::foo", "overload": "", "module_call": 1, "arguments": {},
     "results": [], "values": {"macs": null}, "unknown": ["macs"]}],
  "outputs": [],
  "coverage": {"metric": "macs", "counted": 0, "zero_by_rule": 0, "unknown": 1,
               "unknown_ops": [{"op": "aten::foo", "count": 1}]},
  "findings": [{"severity": "warning", "rule": "too-large", "text": "is too large",
                "targets": [{"tensor": "fc.bias"}], "changes": []}],
  "warnings": ["a warning"],
  "plugins": [{"id": "org.tmeter.params", "version": "1.0"}]
})json";

/// The document with one substring replaced.
std::string with(std::string_view from, std::string_view to) {
  std::string text(kDocument);
  const auto at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

void expect_refusal(const std::vector<std::string>& words, const std::string& document) {
  expect_error(ErrorKind::kModel, words, [&] { read_report(document); });
}

TEST(SavedReport, HasTheGraphAndTheValuesOfTheDocument) {
  const auto saved = read_report(kDocument);
  const auto& graph = *saved.graph;
  ASSERT_EQ(graph.modules().size(), 2u);
  EXPECT_EQ(graph.modules()[1]->path, "fc");
  EXPECT_EQ(graph.tensors()[0].numel, 6);
  EXPECT_EQ(graph.nodes()[0].call->module->path, "fc");
  const auto& macs = *saved.report.results.find("macs");
  EXPECT_EQ(macs.provenance, TMETER_PROVENANCE_ESTIMATED);
  EXPECT_EQ(macs.flags & TMETER_METRIC_DETAIL, uint32_t{TMETER_METRIC_DETAIL});
  EXPECT_EQ(macs.cell(TMETER_AXIS_NODE, 0).kind, TMETER_NUMBER_UNKNOWN);
  EXPECT_EQ(macs.cell(TMETER_AXIS_MODULE, 1).kind, TMETER_NUMBER_UNKNOWN);
  EXPECT_EQ(macs.cell(TMETER_AXIS_MODEL, 0).i, 6);
  EXPECT_TRUE(is_partial(macs.cell(TMETER_AXIS_MODEL, 0)));
  const auto& params = *saved.report.results.find("params");
  EXPECT_EQ(params.cell(TMETER_AXIS_TENSOR, 1).i, 2);
  EXPECT_FALSE(is_partial(params.cell(TMETER_AXIS_MODEL, 0)));
}

TEST(SavedReport, HasItsFindingsDescriptionsAndProperties) {
  const auto saved = read_report(kDocument);
  const auto& report = saved.report;
  ASSERT_EQ(report.results.findings.size(), 1u);
  const auto& target = report.results.findings[0].targets.at(0);
  EXPECT_EQ(saved.graph->tensors()[target.index].name, "fc.bias");
  EXPECT_EQ(report.module_descriptions().text("text", 1), "Linear(3, 2)");
  EXPECT_EQ(report.properties.at("model.file"), "net.pt2");
  EXPECT_EQ(report.properties.at("model.size"), "1234");
  EXPECT_EQ(report.warnings, (std::vector<std::string>{"a warning"}));
  EXPECT_EQ(report.results.coverage.unknown_ops.at(0).op, "aten::foo");
  EXPECT_EQ(report.plugins.at(0).second, "1.0");
}

TEST(SavedReport, IgnoresUnknownMembersAndDoesNotNeedOptionalSections) {
  read_report(with("\"symbols\": [],", "\"symbols\": [], \"later\": {\"x\": [1]},"));
  const auto saved = read_report(with("\"warnings\": [\"a warning\"],", ""));
  EXPECT_TRUE(saved.report.warnings.empty());
}

TEST(SavedReport, RefusesContradictionsWithTheirPlace) {
  expect_refusal({"nodes[0]", "'op'"}, with("\"op\": \"aten::foo\", \"overload\"", "\"overload\""));
  expect_refusal({"modules[1]", "its parent '7'"}, with("\"parent\": \"0\"", "\"parent\": \"7\""));
  expect_refusal({"modules[1]", "'calls' is 2"},
                 with("\"qualified_type\": \"Linear\", \"calls\": 1",
                      "\"qualified_type\": \"Linear\", \"calls\": 2"));
  expect_refusal({"tensors[1]", "'index'"}, with("\"index\": 1", "\"index\": 5"));
  expect_refusal({"tensors[0]", "owner"}, with("\"owner\": \"fc\"", "\"owner\": \"fd\""));
  expect_refusal({"findings[0]", "no tensor 'fc.x'"}, with("fc.bias\"}]", "fc.x\"}]"));
  expect_refusal({"'macss' is not among"},
                 with("\"macs\": null}, \"unknown\": [\"macs\"]}],\n  \"module_calls\"",
                      "\"macss\": null}, \"unknown\": [\"macs\"]}],\n  \"module_calls\""));
  expect_refusal({"'macs' occurs twice"}, with("\"id\": \"params\"", "\"id\": \"macs\""));
}

TEST(SavedReport, RefusesOtherDocuments) {
  expect_refusal({"not a tmeter report"}, "{}");
  expect_refusal({"an object is expected"}, "[]");
  expect_refusal({"'tmeter-report/9'", "newer"}, with("tmeter-report/1", "tmeter-report/9"));
  expect_refusal({"occurs twice"}, with("\"symbols\": []", "\"symbols\": [], \"symbols\": []"));
  for (size_t part = 1; part < 20; ++part)
    EXPECT_THROW(read_report(kDocument.substr(0, kDocument.size() * part / 20)), Error) << part;
}

TEST(SavedReport, IsRecognisedByItsFirstMember) {
  EXPECT_TRUE(is_saved_report(kDocument));
  EXPECT_TRUE(is_saved_report("{\n \"schema\": \"tmeter-report/1\", damaged"));
  EXPECT_FALSE(is_saved_report("{\"weight_map\": {}}"));
  EXPECT_FALSE(is_saved_report(""));
}

}  // namespace
}  // namespace tmeter::core
