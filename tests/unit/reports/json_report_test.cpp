// The JSON report on a hand-made report; tests/schema/validate_report.py checks real reports
// against the schema.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "plugins/reports/common/json_stream.hpp"
#include "plugins/reports/json/writer.hpp"
#include "tests/unit/reports/fake_report.hpp"

namespace {

using Json = nlohmann::ordered_json;

class JsonReport : public testing::Test {
 protected:
  JsonReport() {
    r.graph_properties = {{"name", "Net"}, {"format", "torch.export"}};
    r.properties = {{"tool.version", "1.0.0"}, {"model.size", "2048"}, {"analysis.seconds", "0.5"}};
    root = r.module(nullptr, "", "acme.Net");
    conv = r.module(root, "conv", "torch.nn.Conv2d", 2);
    weight = r.tensor(conv, "weight", {4, 3, 3, 3});
    macs = r.metric({.id = "macs", .title = "MACs", .unit = "MAC", .unit_kind = TMETER_UNIT_OP});
    energy =
        r.metric({.id = "energy", .title = "energy", .unit = "J", .unit_kind = TMETER_UNIT_JOULE});
    node = r.node(conv, "aten::conv2d");
  }

  std::string text() {
    tmeter_output out;
    tmeter::Output output(&out);
    json_report::write(r.report(), output);
    return out.text;
  }
  Json write() { return Json::parse(text()); }

  fake::FakeReport r;
  tmeter_module *root, *conv;
  tmeter_tensor* weight;
  tmeter_node* node;
  size_t macs, energy;
};

TEST_F(JsonReport, NamesItsSchemaToolAndModel) {
  const auto report = write();
  EXPECT_EQ(report["schema"], "tmeter-report/1");
  EXPECT_EQ(report["tool"], Json({{"name", "tmeter"}, {"version", "1.0.0"}}));
  EXPECT_EQ(report["model"], Json({{"name", "Net"},
                                   {"file", nullptr},
                                   {"format", "torch.export"},
                                   {"producer", nullptr},
                                   {"part", nullptr},
                                   {"size", 2048},
                                   {"sizes", nullptr}}));
  EXPECT_EQ(report["timing"]["analysis_seconds"], 0.5);
  EXPECT_EQ(report["hardware"], nullptr);
  EXPECT_EQ(report["coverage"], nullptr);
}

TEST_F(JsonReport, SizesThatDifferFromTheFilesAreStated) {
  r.graph_properties["sizes"] = "worked out for x=2x3; the file records 1x3";
  EXPECT_EQ(write()["model"]["sizes"], Json({{"text", "worked out for x=2x3; the file records 1x3"},
                                             {"literals_replaced", nullptr},
                                             {"literals_kept", nullptr}}));
  r.graph_properties["literals.replaced"] = "12";
  r.graph_properties["literals.kept"] = "3";
  EXPECT_EQ(write()["model"]["sizes"]["literals_replaced"], 12);
  EXPECT_EQ(write()["model"]["sizes"]["literals_kept"], 3);
}

TEST_F(JsonReport, HistogramsAndCurvesNameTheirTargets) {
  r.distributions.push_back(
      {"values", "values", "", tmeter::target_of(tmeter::Tensor(weight)), {0, 0.5, 1}, {3, 4}});
  r.series.push_back(
      {"pruning", "pruning", "share", "", "loss", "", tmeter::kWholeModel, {0, 1}, {0, 0.5}});
  const auto report = write();
  EXPECT_EQ(report["distributions"], Json::array({{{"id", "values"},
                                                   {"title", "values"},
                                                   {"unit", ""},
                                                   {"of", {{"tensor", "conv.weight"}}},
                                                   {"edges", {0.0, 0.5, 1.0}},
                                                   {"counts", {3, 4}}}}));
  EXPECT_EQ(report["series"][0]["of"], Json::object());
  EXPECT_EQ(report["series"][0]["x"], Json({{"title", "share"}, {"unit", ""}}));
  EXPECT_EQ(report["series"][0]["points"], Json::parse("[[0, 0], [1, 0.5]]"));
}

TEST_F(JsonReport, LargeCountsStayExactIntegers) {
  constexpr int64_t kBeyondDouble = 9007199254740993;  // 2^53 + 1
  r.set(macs, TMETER_AXIS_MODEL, 0, fake::integer(kBeyondDouble));
  r.set(macs, TMETER_AXIS_NODE, 0, fake::integer(std::numeric_limits<int64_t>::max()));
  const auto report = write();
  EXPECT_TRUE(report["totals"]["macs"].is_number_integer());
  EXPECT_EQ(report["totals"]["macs"].get<int64_t>(), kBeyondDouble);
  EXPECT_NE(text().find("\"macs\":9223372036854775807"), std::string::npos);
}

TEST_F(JsonReport, EachOfManyOperatorsHasItsOwnValuesAndMarks) {
  constexpr size_t kMany = 20'000;  // two threads, a block each
  for (size_t i = 1; i < kMany; ++i) r.node(conv, "aten::conv2d");
  for (size_t i = 0; i < kMany; ++i) {
    r.set(macs, TMETER_AXIS_NODE, i,
          i % 3 == 0 ? fake::unknown() : fake::integer(static_cast<int64_t>(i)));
    r.set(energy, TMETER_AXIS_NODE, i, i % 2 == 0 ? fake::zero_by_rule() : fake::real(0.5));
  }
  const auto nodes = write()["nodes"];
  ASSERT_EQ(nodes.size(), kMany);
  for (size_t i = 0; i < kMany; ++i) {
    const auto& row = nodes[i];
    ASSERT_EQ(row["index"], i);
    ASSERT_EQ(row["values"]["macs"], i % 3 == 0 ? Json(nullptr) : Json(i));
    ASSERT_EQ(row.value("unknown", Json()), i % 3 == 0 ? Json({"macs"}) : Json()) << i;
    ASSERT_EQ(row.value("zero_by_rule", Json()), i % 2 == 0 ? Json({"energy"}) : Json()) << i;
  }
}

TEST_F(JsonReport, EveryNullIsExplainedAndInapplicableValuesAreLeftOut) {
  r.set(macs, TMETER_AXIS_NODE, 0, fake::unknown());
  r.set(energy, TMETER_AXIS_NODE, 0, fake::unavailable());
  auto row = write()["nodes"][0];
  EXPECT_EQ(row["values"], Json({{"macs", nullptr}, {"energy", nullptr}}));
  EXPECT_EQ(row["unknown"], Json({"macs"}));
  EXPECT_EQ(row["unavailable"], Json({"energy"}));
  r.set(macs, TMETER_AXIS_NODE, 0, fake::zero_by_rule());
  r.set(energy, TMETER_AXIS_NODE, 0, fake::real(std::nan("")));
  row = write()["nodes"][0];
  EXPECT_EQ(row["values"], Json({{"macs", 0}, {"energy", nullptr}}));
  EXPECT_EQ(row["zero_by_rule"], Json({"macs"}));
  EXPECT_EQ(row["not_finite"], Json({"energy"}));
  EXPECT_EQ(write()["tensors"][0]["values"], Json::object());
}

TEST_F(JsonReport, TotalsNameEveryMetric) {
  r.set(energy, TMETER_AXIS_MODEL, 0, fake::real(0.1));
  EXPECT_EQ(write()["totals"], Json({{"macs", nullptr}, {"energy", 0.1}}));
}

TEST_F(JsonReport, ModulesHaveIdsParentsAndAttributes) {
  conv->attributes = {{"stride", fake::int_value(2)}};
  const auto modules = write()["modules"];
  EXPECT_EQ(modules[0]["id"], "0");
  EXPECT_EQ(modules[0]["parent"], nullptr);
  EXPECT_EQ(modules[0]["children"], Json({"1"}));
  EXPECT_EQ(modules[1]["id"], "1");
  EXPECT_EQ(modules[1]["parent"], "0");
  EXPECT_EQ(modules[1]["type"], "Conv2d");
  EXPECT_EQ(modules[1]["qualified_type"], "torch.nn.Conv2d");
  EXPECT_EQ(modules[1]["calls"], 2);
  EXPECT_EQ(modules[1]["attributes"], Json({{"stride", 2}}));
}

TEST_F(JsonReport, ArgumentsNameTheOriginOfTensors) {
  auto* second = r.node(conv, "aten::add_");
  auto from_node = fake::tensor_value({1});
  from_node.producer = node;
  auto from_file = fake::tensor_value({4, 3, 3, 3});
  from_file.tensor = weight;
  second->args = {{"self", from_node}, {"other", from_file}, {"", fake::int_value(1)}, {"", {}}};
  const auto arguments = write()["nodes"][1]["arguments"];
  EXPECT_EQ(arguments["self"], Json({{"dtype", "float32"}, {"shape", {1}}, {"node", 0}}));
  EXPECT_EQ(arguments["other"]["tensor"], "conv.weight");
  EXPECT_EQ(arguments["#2"], 1);
  EXPECT_EQ(arguments["#3"], nullptr);
}

TEST_F(JsonReport, SymbolicShapesAreWrittenWithTheirSizes) {
  r.inputs.push_back({"x", "recorded", fake::tensor_value({8, 3})});
  r.inputs[0].value.dim_texts = {"batch", ""};
  const std::string name = "batch";
  constexpr auto kUnbounded = std::numeric_limits<int64_t>::max();
  r.symbols.push_back({sizeof(tmeter_symbol_info), 0, fake::str(name), 1, kUnbounded, 8, {}});
  const auto report = write();
  EXPECT_EQ(report["inputs"][0]["shape"], Json({8, 3}));
  EXPECT_EQ(report["inputs"][0]["symbolic_shape"], Json({"batch", "3"}));
  EXPECT_EQ(report["symbols"][0]["max"], nullptr);
  EXPECT_EQ(report["symbols"][0]["place"], nullptr);
}

TEST_F(JsonReport, FormulasAndSweepsNameTheirSymbols) {
  EXPECT_EQ(write()["formulas"], Json::array());
  EXPECT_EQ(write()["sweep"], nullptr);
  const std::string b = "s1", s = "s2";
  r.symbols.push_back({sizeof(tmeter_symbol_info), 0, fake::str(b), 1, 64, 8, {}});
  r.symbols.push_back({sizeof(tmeter_symbol_info), 0, fake::str(s), 2, 512, 32, {}});
  r.formulas = {{.metric = macs,
                 .module = 1,
                 .flags = TMETER_FORMULA_PARTIAL,
                 .text = "6·s1·s2² - 5",
                 .symbols = {0, 1},
                 .terms = {{6, {1, 2}}, {-5, {0, 0}}}}};
  EXPECT_EQ(write()["formulas"][0],
            Json({{"metric", "macs"},
                  {"module", "conv"},
                  {"text", "6·s1·s2² - 5"},
                  {"partial", true},
                  {"terms",
                   {{{"coefficient", 6}, {"powers", {{"s1", 1}, {"s2", 2}}}},
                    {{"coefficient", -5}, {"powers", Json::object()}}}}}));
  r.sweep = {{1}, {{16}, {64}}, {{fake::integer(7), fake::unknown()}, {fake::at_least(9), {}}}};
  EXPECT_EQ(write()["sweep"],
            Json({{"symbols", {"s2"}},
                  {"points", {{16}, {64}}},
                  {"totals", {{"macs", {7, 9}}, {"energy", {nullptr, nullptr}}}},
                  {"totals_status",
                   {{"macs", {nullptr, "lower_bound"}}, {"energy", {"unknown", nullptr}}}}}));
}

TEST_F(JsonReport, TiedTensorsNameTheirOrigin) {
  auto* copy = r.tensor(root, "copy", {4, 3, 3, 3});
  copy->canonical = weight;
  const auto tensors = write()["tensors"];
  EXPECT_FALSE(tensors[0].contains("tied_to"));
  EXPECT_EQ(tensors[1]["tied_to"], "conv.weight");
}

TEST_F(JsonReport, CoverageListsOperatorsWithoutARule) {
  r.coverage_metric = "macs";
  r.coverage = {5, 4, 1};
  r.unknown_ops = {{"acme::fused", 1}};
  const auto coverage = write()["coverage"];
  EXPECT_EQ(coverage["ratio"], 0.9);
  EXPECT_EQ(coverage["unknown_ops"][0], Json({{"op", "acme::fused"}, {"count", 1}}));
  r.coverage = {0, 0, 0};
  EXPECT_EQ(write()["coverage"]["ratio"], nullptr);
}

TEST_F(JsonReport, HostileNamesStillGiveValidJson) {
  conv->name = conv->path = "a\"\\\n\x01\xff\xc3";
  node->op = "x::\xed\xa0\x80";
  r.warnings = {"\x80"};
  r.config = {{"k\xfe", "v\xfe"}};
  const auto report = write();
  EXPECT_EQ(report["modules"][1]["name"], "a\"\\\n\x01\uFFFD\uFFFD");
  EXPECT_EQ(report["config"].items().begin().key(), "k\uFFFD");
}

// A size that an operator made, beside a constant: [{"node": 0}, null], as long as the list.
TEST_F(JsonReport, DetailsOfAListHaveAnItemForEachOfItsItems) {
  auto made = fake::int_value(2);
  made.producer = node;
  tmeter_value sizes, other;
  sizes.kind = TMETER_VALUE_LIST;
  sizes.items = {fake::int_value(1), made, fake::int_value(4), fake::int_value(4)};
  other.kind = TMETER_VALUE_LIST;
  other.items = {fake::int_value(1), fake::int_value(2)};
  auto* ones = r.node(conv, "aten::ones");
  ones->args = {{"size", sizes}, {"stride", other}};
  ones->results = {fake::int_value(3), sizes, fake::int_value(3)};
  const auto row = write()["nodes"][1];
  EXPECT_EQ(row["arguments"]["size"], Json({1, 2, 4, 4}));
  EXPECT_EQ(row["details"], Json({{"size", {nullptr, {{"node", 0}}, nullptr, nullptr}}}));
  EXPECT_FALSE(row.contains("result_details"));  // results do not name their makers
}

TEST_F(JsonReport, LongTextsAreWrittenInPiecesOfWholeCharacters) {
  std::string name;  // the buffer has 4,096 bytes: each kind of character crosses an end
  for (int i = 0; i < 3'000; ++i) name += i % 7 == 0 ? "\n" : i % 3 == 0 ? "\u20ac" : "\U0001f600";
  tmeter_output out;
  tmeter::Output output(&out);
  reports::JsonStream(output).text(name).finish();
  EXPECT_EQ(Json::parse(out.text), Json(name));
  EXPECT_LT(out.longest, 80'000u);
}

// The writer reads eight bytes of a string at a time: each byte at each place, in strings of any
// length.
TEST_F(JsonReport, EveryByteIsEscapedAtAnyPosition) {
  for (size_t length = 1; length < 20; ++length) {
    for (size_t at = 0; at < length; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string name(length, 'x');
        name[at] = static_cast<char>(byte);
        const auto expected = Json(name).dump(-1, ' ', false, Json::error_handler_t::replace);
        tmeter_output out;
        tmeter::Output output(&out);
        reports::JsonStream(output)
            .open('{')
            .key(std::string_view(name))
            .text(name)
            .close('}')
            .finish();
        ASSERT_EQ(out.text, "{" + expected + ":" + expected + "}\n") << length << " " << at;
        ASSERT_EQ(reports::quoted(name), expected + ":");
      }
    }
  }
}

TEST_F(JsonReport, OutputBeyondTheBufferIsWrittenInOrder) {
  tmeter_output out;
  tmeter::Output output(&out);
  reports::JsonStream stream(output);
  Json expected = Json::array();
  stream.open('[');
  for (int64_t i = 0; i < 30'000; ++i) {
    stream.open('{').key("n").integer(-i).key("r").real(static_cast<double>(i) / 7).close('}');
    expected.push_back({{"n", -i}, {"r", static_cast<double>(i) / 7}});
  }
  stream.close(']').finish();
  EXPECT_EQ(out.text, expected.dump() + "\n");
  EXPECT_LT(out.longest, 80'000u);
}

TEST_F(JsonReport, TextsLongerThanTheBufferDoNotFillMemory) {
  tmeter_output out;
  tmeter::Output output(&out);
  reports::JsonStream(output).text(std::string(1'000'000, '"')).finish();
  EXPECT_EQ(out.text.size(), 2'000'003u);
  EXPECT_LT(out.longest, 80'000u);
}

TEST_F(JsonReport, AnEmptyModelGivesAReport) {
  fake::FakeReport empty;
  tmeter_output out;
  tmeter::Output output(&out);
  json_report::write(empty.report(), output);
  const auto report = Json::parse(out.text);
  EXPECT_EQ(report["modules"], Json::array());
  EXPECT_EQ(report["totals"], Json::object());
}

TEST_F(JsonReport, IdsOfModulesEncodeTheirPlaceInTheTree) {
  auto* inner = r.module(conv, "inner", "torch.nn.ReLU");
  r.module(inner, "a", "torch.nn.ReLU");
  r.module(inner, "b", "torch.nn.ReLU");
  r.module(root, "last", "torch.nn.ReLU");
  const auto modules = write()["modules"];
  std::vector<std::string> ids;
  for (const auto& m : modules) ids.push_back(m["id"]);
  EXPECT_EQ(ids, (std::vector<std::string>{"0", "1", "1.1", "1.1.1", "1.1.2", "2"}));
  EXPECT_EQ(modules[0]["children"], Json({"1", "2"}));
  EXPECT_EQ(modules[0]["parent"], nullptr);
  EXPECT_EQ(modules[4]["parent"], "1.1");
  EXPECT_EQ(modules[2]["children"], Json({"1.1.1", "1.1.2"}));
}

TEST_F(JsonReport, ManyRowsAreWrittenInPieces) {
  for (int i = 0; i < 3000; ++i) r.node(conv, "aten::relu");
  const auto report = write();
  EXPECT_EQ(report["nodes"].size(), 3001U);
  EXPECT_EQ(report["nodes"][3000]["index"], 3000);
  EXPECT_EQ(report["nodes"][3000]["call"], 1);
}

TEST_F(JsonReport, AFullDiskEndsBothThreads) {
  for (int i = 0; i < 20'000; ++i) r.node(conv, "aten::relu");
  for (const size_t room : {100U, 60'000U, 500'000U, 1'500'000U}) {
    tmeter_output out;
    out.room = room;
    tmeter::Output output(&out);
    EXPECT_THROW(json_report::write(r.report(), output), tmeter::Error) << room;
  }
}

TEST_F(JsonReport, ValuesAreWrittenForTheAxesOfTheirMetrics) {
  const auto params = r.metric({.id = "params", .title = "params", .axis = TMETER_AXIS_TENSOR});
  r.set(params, TMETER_AXIS_TENSOR, 0, fake::integer(108));
  r.set(params, TMETER_AXIS_MODULE, 1, fake::integer(108));
  r.set(macs, TMETER_AXIS_NODE, 0, fake::integer(5));
  r.set(macs, TMETER_AXIS_MODULE, 1, fake::integer(5));
  const auto report = write();
  EXPECT_EQ(report["nodes"][0]["values"], Json({{"macs", 5}}));
  EXPECT_EQ(report["tensors"][0]["values"], Json({{"params", 108}}));
  EXPECT_EQ(report["modules"][1]["values"], Json({{"macs", 5}, {"params", 108}}));
}

TEST_F(JsonReport, RowsWithoutValuesAreAlikeAndEmpty) {
  r.tensor(conv, "bias", {4});
  const auto report = write();
  ASSERT_EQ(report["tensors"].size(), 2U);
  for (const auto& tensor : report["tensors"]) EXPECT_EQ(tensor["values"], Json::object());
}

}  // namespace
