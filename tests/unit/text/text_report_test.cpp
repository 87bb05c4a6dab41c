// The whole text report on a hand-made report.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "plugins/reports/text/look/look.hpp"
#include "plugins/reports/text/writer.hpp"
#include "tests/unit/reports/fake_report.hpp"

namespace {

constexpr int kModuleAxis = TMETER_AXIS_MODULE;

// Net(stem: Conv, blocks: ModuleList(0: Block ×2 (act), 1: Block), head: Linear), head tied to
// stem.
class TextReport : public testing::Test {
 protected:
  TextReport() {
    r.graph_properties = {{"name", "Net"}, {"format", "torch.export"}, {"producer", "torch 2.15"}};
    r.properties = {
        {"model.file", "net.pt2"}, {"model.size", "2048"}, {"analysis.seconds", "0.009"}};
    r.inputs.push_back({"x", "recorded", fake::tensor_value({1, 3, 8, 8})});
    root = r.module(nullptr, "", "acme.Net");
    stem = r.module(root, "stem", "torch.nn.Conv2d");
    blocks = r.module(root, "blocks", "torch.nn.ModuleList", 0);
    block0 = r.module(blocks, "0", "acme.Block", 2);
    act = r.module(block0, "act", "torch.nn.ReLU", 2);
    block1 = r.module(blocks, "1", "acme.Block", 0);
    head = r.module(root, "head", "torch.nn.Linear");
    params = r.metric({.id = "params",
                       .title = "params",
                       .axis = TMETER_AXIS_TENSOR,
                       .convention = "stored once; tied ones too",
                       .plugin = "p"});
    macs = r.metric(
        {.id = "macs", .title = "MACs", .unit = "MAC", .unit_kind = TMETER_UNIT_OP, .plugin = "f"});
    energy = r.metric({.id = "energy",
                       .title = "energy",
                       .unit = "J",
                       .unit_kind = TMETER_UNIT_JOULE,
                       .provenance = TMETER_PROVENANCE_ESTIMATED,
                       .provenance_text = "a model on profile x",
                       .plugin = "e"});
    detail = r.metric({.id = "other",
                       .title = "Other",
                       .unit_kind = TMETER_UNIT_OP,
                       .flags = TMETER_METRIC_DETAIL,
                       .plugin = "f"});
    auto* weight = r.tensor(stem, "weight", {4, 3, 3, 3});
    r.tensor(head, "weight", {4, 3, 3, 3})->canonical = weight;
    add_node(stem, "aten::conv2d", fake::integer(4000000000), fake::real(0.0188));
    add_node(block0, "acme::fused", fake::unknown(), fake::unknown());
    add_node(act, "aten::relu_", fake::zero_by_rule(), fake::real(1e-6));
    add_node(head, "aten::linear", fake::integer(1000), fake::real(0));
    set_rows(params, {{0, 25557032}, {1, 108}, {6, 108}});
    set_rows(macs, {{1, 4000000000}, {6, 1000}});
    for (const size_t around_fused : {0, 2, 3, 4})
      r.set(macs, kModuleAxis, around_fused, fake::at_least(around_fused == 0 ? 4000001000 : 0));
    r.set(macs, TMETER_AXIS_MODEL, 0, fake::at_least(4000001000));
    r.set(energy, TMETER_AXIS_MODEL, 0, fake::real(0.018801));
    r.set(energy, kModuleAxis, 1, fake::real(0.0188));
    r.coverage_metric = "macs";
    r.coverage = {2, 1, 1};
    r.unknown_ops = {{"acme::fused", 1}};
  }

  void add_node(const tmeter_module* module, const std::string& op, tmeter_number m,
                tmeter_number e) {
    auto* node = r.node(module, op);
    node->results = {fake::tensor_value({1, 4})};
    r.set(macs, TMETER_AXIS_NODE, node->index, m);
    r.set(energy, TMETER_AXIS_NODE, node->index, e);
  }
  void set_rows(size_t metric, const std::vector<std::pair<size_t, int64_t>>& rows) {
    for (const auto& [module, value] : rows)
      r.set(metric, kModuleAxis, module, fake::integer(value));
    r.set(metric, TMETER_AXIS_MODEL, 0, fake::integer(rows[0].second));
  }

  std::string write(int columns = 0, bool color = false) {
    tmeter_output out{{}, color, columns};
    tmeter::Output output(&out);
    text_report::write(r.report(), output);
    return out.text;
  }
  std::vector<std::string> lines(int columns = 0) {
    std::istringstream text(write(columns));
    std::vector<std::string> all;
    for (std::string line; std::getline(text, line);) all.push_back(line);
    return all;
  }
  // The first line that contains all the words.
  std::string line_with(const std::vector<std::string>& words, int columns = 0) {
    for (const auto& line : lines(columns))
      if (std::all_of(words.begin(), words.end(),
                      [&](const auto& w) { return line.find(w) != std::string::npos; }))
        return line;
    return "";
  }
  std::string error() {
    try {
      write();
    } catch (const tmeter::Error& e) {
      EXPECT_EQ(e.status(), TMETER_BAD_USAGE);
      return e.what();
    }
    return "";
  }

  fake::FakeReport r;
  tmeter_module *root, *stem, *blocks, *block0, *act, *block1, *head;
  size_t params, macs, energy, detail;
};

TEST_F(TextReport, HeaderNamesModelFileFormatAndInput) {
  EXPECT_EQ(lines()[0],
            "Net   net.pt2 (2.00 KiB) · torch.export (torch 2.15) · input x: f32[1, 3, 8, 8]");
}

TEST_F(TextReport, HeaderNamesTheOriginOfShapesAndTheSymbolicDims) {
  r.inputs[0].origin = "inferred";
  r.inputs[0].value.dim_texts = {"batch", "", "", ""};
  EXPECT_NE(lines()[0].find("input x: f32[batch=1, 3, 8, 8] (inferred)"), std::string::npos);
}

TEST_F(TextReport, HeaderMarksSizesThatDifferFromTheFiles) {
  r.properties["sizes"] = "sizes worked out for x=2x3x8x8";
  EXPECT_EQ(
      lines()[0],
      "Net   net.pt2 (2.00 KiB) · torch.export (torch 2.15) · sizes worked out for x=2x3x8x8 · "
      "input x: f32[1, 3, 8, 8]");
}

TEST_F(TextReport, ManyInputsGetLinesOfTheirOwnAndAreCounted) {
  for (int i = 0; i < 20; ++i)
    r.inputs.push_back({"in" + std::to_string(i), "given", fake::int_value(i)});
  EXPECT_EQ(lines()[1].find("      inputs x: f32[1, 3, 8, 8] · in0: 0 (given)"), 0U) << lines()[1];
  EXPECT_NE(write().find("… 15 more inputs"), std::string::npos);
}

TEST_F(TextReport, ModuleTreeHasIdsTypesAndScaledValues) {
  r.tensor(block1, "bias", {4});
  EXPECT_EQ(line_with({"0 ", "Net", "25.56 M"}).find("0      Net"), 0U);
  EXPECT_EQ(line_with({"stem"}).find("1      ├─ stem †"), 0U) << line_with({"stem"});
  EXPECT_NE(line_with({"stem"}).find("4.00 G"), std::string::npos);
  EXPECT_NE(line_with({"stem"}).find("18.80 mJ"), std::string::npos);
  EXPECT_EQ(line_with({"ReLU"}).find("2.1.1  │  │  └─ act"), 0U) << line_with({"ReLU"});
  EXPECT_EQ(line_with({"Linear"}).find("3      └─ head †"), 0U);
}

TEST_F(TextReport, ReusedAndUnusedModulesAreMarkedAndExplained) {
  r.tensor(block1, "bias", {4});
  EXPECT_NE(line_with({"2.1 ", "Block"}).find("0 ×2"), std::string::npos);
  EXPECT_NE(line_with({"2.2 ", "Block"}).find("1 ×0"), std::string::npos);
  // A ModuleList is never called, but the modules inside it are.
  EXPECT_EQ(line_with({"ModuleList"}).find("×"), std::string::npos);
  EXPECT_NE(write().find("×n: 2 modules are called more than once"), std::string::npos);
  EXPECT_NE(write().find("×0: 1 module is not called"), std::string::npos);
}

TEST_F(TextReport, ModulesWithoutOperatorsAndTensorsHaveNoRows) {
  r.module(block0, "drop_path", "torch.nn.Identity", 0);
  EXPECT_EQ(write().find("drop_path"), std::string::npos);
  r.views["no-fold"] = "1";
  EXPECT_NE(write().find("drop_path"), std::string::npos);
}

TEST_F(TextReport, NothingIsMarkedAsUnusedWhenTheFileHasNoRecording) {
  r.nodes.clear();
  EXPECT_EQ(write().find("×0"), std::string::npos);
}

TEST_F(TextReport, TiedParametersAreMarkedAndNamed) {
  EXPECT_NE(write().find("† tied, counted once: head.weight = stem.weight"), std::string::npos);
}

TEST_F(TextReport, ValuesThatLeaveOperatorsOutAreLowerBounds) {
  EXPECT_NE(line_with({"Net", "≥4.00 G"}), "");
  EXPECT_NE(line_with({"2.1 ", "≥0"}), "");
  EXPECT_NE(write().find("4 operators: 2 counted · 1 zero by rule · 1 unknown"), std::string::npos);
  EXPECT_NE(write().find("\nno rule for acme::fused ×1\n"), std::string::npos);
  EXPECT_NE(write().find("\n≥: a lower bound"), std::string::npos);
  r.set(params, kModuleAxis, 1, fake::at_least(108));
  EXPECT_NE(line_with({"stem †", "≥108"}), "");
}

TEST_F(TextReport, TotalsAreExact) {
  EXPECT_NE(write().find("params 25,557,032 · MACs ≥4,000,001,000 · energy 18.80 mJ"),
            std::string::npos);
}

TEST_F(TextReport, ConventionsAndProvenanceAreStated) {
  EXPECT_NE(write().find("\nenergy: estimated by a model on profile x\n"), std::string::npos);
  r.views["verbose"] = "1";
  EXPECT_NE(write().find("\nparams: stored once\n"), std::string::npos);
  EXPECT_NE(write().find("\nenergy: estimated by a model on profile x\n"), std::string::npos);
  EXPECT_EQ(write().find("-v explains"), std::string::npos);
}

TEST_F(TextReport, FixedConventionsAreStatedOnRequestAndChosenOnesAlways) {
  r.metrics[macs].convention = "fvcore: 1 MAC = 1; more of it";
  r.config = {{"f.convention", "fvcore"}};
  EXPECT_EQ(write().find("params: stored once"), std::string::npos);
  EXPECT_NE(write().find("\nMACs: fvcore: 1 MAC = 1\n"), std::string::npos);
  EXPECT_NE(write().find("\n-v explains each value\n"), std::string::npos);
}

TEST_F(TextReport, AnUnavailableMetricHasAReasonInsteadOfAColumn) {
  r.metrics[energy].provenance = TMETER_PROVENANCE_UNAVAILABLE;
  r.metrics[energy].provenance_text = "the profile has no energies";
  EXPECT_EQ(line_with({"params", "MACs", "share"}).find("energy"), std::string::npos);
  EXPECT_NE(write().find("\nenergy: unavailable: the profile has no energies\n"),
            std::string::npos);
}

TEST_F(TextReport, ValuesOfTheWholeModelHaveNoColumn) {
  const auto peak = r.metric({.id = "peak",
                              .title = "peak memory",
                              .unit = "B",
                              .unit_kind = TMETER_UNIT_BYTE,
                              .axis = TMETER_AXIS_MODEL});
  r.set(peak, TMETER_AXIS_MODEL, 0, fake::integer(3 << 20));
  EXPECT_EQ(line_with({"params", "MACs", "share"}).find("peak"), std::string::npos);
  EXPECT_NE(write().find("peak memory 3.00 MiB"), std::string::npos);
}

TEST_F(TextReport, WarningsAndTimeAreShown) {
  r.warnings = {"inputs were guessed"};
  EXPECT_NE(write().find("\nwarning: inputs were guessed\n"), std::string::npos);
  EXPECT_NE(write().find("analysed in 9.00 ms\n"), std::string::npos);
}

TEST_F(TextReport, DepthLimitsTheTreeAndNamesTheOptionForMore) {
  r.views["depth"] = "1";
  EXPECT_EQ(line_with({"Block"}), "");
  EXPECT_NE(write().find("… 3 modules below: --depth 2 to 3"), std::string::npos);
  r.views["depth"] = "0";
  EXPECT_EQ(line_with({"Conv2d"}), "");
  r.views["depth"] = "all";
  EXPECT_NE(line_with({"ReLU"}), "");
  r.views["depth"] = "two";
  EXPECT_NE(error().find("--depth"), std::string::npos);
}

TEST_F(TextReport, ALargeModelIsShownAsDeepAsFitsAScreen) {
  for (int i = 0; i < 100; ++i) r.module(block1, "l" + std::to_string(i), "torch.nn.Linear");
  EXPECT_NE(line_with({"2.2 ", "Block"}), "");
  EXPECT_EQ(line_with({"2.2.1 "}), "");
  EXPECT_NE(write().find("… 101 modules below: --depth 3"), std::string::npos);
}

TEST_F(TextReport, ByOperatorGroupsCallsAndPutsTheHeaviestFirst) {
  r.views["by"] = "operator";
  const auto all = lines();
  const auto conv = std::find_if(all.begin(), all.end(), [](const auto& l) {
    return l.find("├─ aten::conv2d ×1") != std::string::npos;
  });
  const auto linear = std::find_if(all.begin(), all.end(), [](const auto& l) {
    return l.find("├─ aten::linear ×1") != std::string::npos;
  });
  EXPECT_LT(conv, linear);
  EXPECT_NE(linear, all.end());
  EXPECT_NE(line_with({"acme::fused ×1", "?"}), "");
  // Parameters belong to no operator.
  EXPECT_EQ(line_with({"MACs", "share"}).find("params"), std::string::npos);
  r.views["depth"] = "2";
  EXPECT_NE(line_with({"0 ", "stem", "f32[1, 4]", "4.00 G"}), "");
}

TEST_F(TextReport, ByTypeAddsUpTheOwnValuesOfModules) {
  r.set(params, TMETER_AXIS_TENSOR, 0, fake::integer(108));
  r.set(params, TMETER_AXIS_TENSOR, 1, fake::integer(108));
  r.views["by"] = "type";
  EXPECT_NE(line_with({"Conv2d ×1", "108", "4.00 G"}), "");
  EXPECT_NE(line_with({"Block ×2", "?"}), "");
  // A tied tensor is counted at its first place.
  EXPECT_NE(line_with({"Linear ×1", "–", "1.00 K"}), "");
}

TEST_F(TextReport, TypesWithTheSameShortNameAreDistinguished) {
  r.module(root, "x", "other.Linear");
  r.views["by"] = "type";
  EXPECT_NE(line_with({"torch.nn.Linear ×1"}), "");
  EXPECT_NE(line_with({"other.Linear ×1"}), "");
}

TEST_F(TextReport, ColumnsCanBeChosenDetailsIncluded) {
  r.set(detail, kModuleAxis, 1, fake::integer(7));
  r.views["columns"] = "other,macs";
  EXPECT_NE(line_with({"Other", "MACs"}), "");
  EXPECT_EQ(write().find("params"), std::string::npos);
  r.views["columns"] = "none";
  EXPECT_EQ(write().find("MACs"), std::string::npos);
  r.views["columns"] = "macs,nope";
  EXPECT_NE(error().find("no metric 'nope'; it has params, macs, energy, other;"),
            std::string::npos);
}

TEST_F(TextReport, SortOrdersSiblingsByAMetric) {
  r.views["sort"] = "params";
  const auto text = write();
  EXPECT_LT(text.find("head †"), text.find("blocks"));
  r.views["sort"] = "nope";
  EXPECT_NE(error().find("--sort"), std::string::npos);
}

TEST_F(TextReport, RawValuesAreExactAndUnscaled) {
  r.views["raw"] = "1";
  EXPECT_NE(line_with({"stem", "4000000000", "0.0188"}), "");
  EXPECT_NE(line_with({"MACs", "energy [J]"}), "");
  EXPECT_EQ(write().find("share"), std::string::npos);
}

TEST_F(TextReport, NoLineIsWiderThanTheTerminalForAnyName) {
  r.graph_properties["name"] = std::string(300, 'N');
  head->name = "卷积\x1b[2J\xff" + std::string(100, 'h');
  head->type = std::string(200, 'T');
  r.warnings = {std::string(500, 'w') + " and words"};
  r.unknown_ops = {{std::string(200, 'o'), 3}};
  for (int width = 20; width < 200; width += 7)
    for (const auto& line : lines(width))
      EXPECT_LE(text_report::display_width(line), static_cast<size_t>(width)) << line;
  EXPECT_EQ(write().find('\x1b'), std::string::npos);
}

TEST_F(TextReport, ColoursDoNotChangeTheText) {
  std::string colored = write(100, true), plain;
  for (size_t at = 0; at < colored.size();) {
    if (colored[at] == '\x1b')
      at = colored.find('m', at) + 1;
    else
      plain += colored[at++];
  }
  EXPECT_EQ(plain, write(100, false));
  EXPECT_NE(plain, colored);
}

TEST_F(TextReport, RepeatsAreDrawnOnceWithTheValuesOfAll) {
  auto* layers = r.module(root, "layers", "torch.nn.Sequential", 1);
  for (const char* name : {"0", "1", "2"}) {
    auto* layer = r.module(layers, name, "acme.Layer", 1);
    r.set(macs, kModuleAxis, layer->index, fake::integer(2000));
  }
  const size_t first = layers->index + 1;
  r.repeats[first] = {1, 3};
  EXPECT_NE(line_with({"4.1–3", "repeat 3 ×", "6.00 K"}), "");
  EXPECT_NE(line_with({"4.1 ", "0", "Layer", "2.00 K"}), "");
  EXPECT_EQ(line_with({"4.2 "}), "");
  r.views["no-fold"] = "1";
  EXPECT_EQ(line_with({"repeat"}), "");
  EXPECT_NE(line_with({"4.2 "}), "");
}

TEST_F(TextReport, DifferentModulesAreNotFolded) {
  auto* layers = r.module(root, "layers", "torch.nn.Sequential", 1);
  for (const char* name : {"0", "1", "2"}) {
    auto* layer = r.module(layers, name, "acme.Layer", 1);
    r.set(macs, kModuleAxis, layer->index, fake::integer(name[0] == '2' ? 1 : 2000));
  }
  r.repeats[layers->index + 1] = {1, 3};
  EXPECT_EQ(line_with({"repeat"}), "");
}

TEST_F(TextReport, FindingsComeWithEvidenceGainAndAction) {
  tmeter::Finding f;
  f.severity = TMETER_SEVERITY_ADVICE;
  f.rule = "store-half";
  f.text = "weights fit 16 bits";
  f.evidence = "SQNR 52 dB";
  f.action = "model.half()";
  f.changes = {{"params", 4000, 2000}};
  r.findings.push_back(f);
  // One paragraph: the change, the evidence, the effect, the remedy.
  const auto report = write();
  const auto at = report.find("advice: weights fit 16 bits\n");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(report.substr(at, report.find("→ model.half()") - at),
            "advice: weights fit 16 bits\n  SQNR 52 dB\n  params 4.00 K → 2.00 K\n  ");
  for (int i = 0; i < 6; ++i) r.findings.push_back(f);
  EXPECT_NE(line_with({"… 2 more of store-half"}), "");
}

TEST_F(TextReport, FindingsOfTheLowestSeverityTakeOneLine) {
  tmeter::Finding f;
  f.rule = "memory-peak";
  f.text = "activations peak at 2 MiB";
  f.evidence = "stem";
  r.findings.push_back(f);
  EXPECT_NE(line_with({"info: activations peak at 2 MiB: stem"}), "");
}

// Three tensors with one value each and histograms; the tied one is shown once.
class TextTensors : public TextReport {
 protected:
  TextTensors() {
    r.tensor(block0, "bias", {7});
    mean = r.metric({.id = "mean",
                     .title = "mean",
                     .unit_kind = TMETER_UNIT_OTHER,
                     .axis = TMETER_AXIS_TENSOR,
                     .flags = TMETER_METRIC_TENSORS});
    r.set(mean, TMETER_AXIS_MODEL, 0, fake::real(0.25));
    r.set(mean, TMETER_AXIS_TENSOR, 0, fake::real(0.0123));
    r.set(mean, TMETER_AXIS_TENSOR, 2, fake::real(-3));
    r.distributions.push_back(
        {"values", "values", "", {TMETER_AXIS_TENSOR, 0, 0}, {0, 1, 2, 3, 4}, {8, 0, 4, 1}});
  }
  size_t mean;
};

TEST_F(TextTensors, AreATableOfTheirOwnHeaviestFirst) {
  const auto report = write();
  EXPECT_NE(line_with({"2 tensors", "115", "0.25"}), "");
  const auto weight = line_with({"stem.weight", "f32[4, 3, 3, 3]", "108", "0.0123", "█ ▄▁"});
  const auto bias = line_with({"blocks.0.bias", "f32[7]", "-3"});
  ASSERT_NE(weight, "");
  ASSERT_NE(bias, "");
  EXPECT_LT(report.find(weight), report.find(bias));
  EXPECT_EQ(line_with({"head.weight", "f32"}), "");  // tied: the elements are those of stem.weight
  EXPECT_EQ(line_with({"Net", "0.25"}), "");         // a column of tensors, not of the module tree
}

TEST_F(TextTensors, CanBeSortedAndShownAlone) {
  r.views["sort"] = "mean";
  auto report = write();
  EXPECT_LT(report.find("f32[4, 3, 3, 3]"), report.find("f32[7]"));
  r.set(mean, TMETER_AXIS_TENSOR, 2, fake::real(3));
  report = write();
  EXPECT_GT(report.find("f32[4, 3, 3, 3]"), report.find("f32[7]"));
  EXPECT_NE(report.find("ModuleList"), std::string::npos);
  r.views["by"] = "tensor";
  EXPECT_EQ(write().find("ModuleList"), std::string::npos);
}

TEST_F(TextTensors, AModuleTreeWithoutAnyValueIsLeftOut) {
  r.cells.clear();
  r.set(mean, TMETER_AXIS_TENSOR, 0, fake::real(0.5));
  EXPECT_EQ(write().find("ModuleList"), std::string::npos);
}

TEST_F(TextTensors, OfManyTheFirstAreShownAndTheRestCounted) {
  for (int i = 0; i < 30; ++i) r.tensor(head, "extra" + std::to_string(i), {1});
  EXPECT_NE(line_with({"… 12 more tensors: --by tensor"}), "");
  r.views["by"] = "tensor";
  EXPECT_EQ(write().find("more tensors"), std::string::npos);
  EXPECT_NE(line_with({"head.extra29"}), "");
}

TEST_F(TextReport, AnEmptyReportIsStillAReport) {
  fake::FakeReport empty;
  empty.module(nullptr, "", "");
  tmeter_output out{{}, false, 80};
  tmeter::Output output(&out);
  text_report::write(empty.report(), output);
  EXPECT_EQ(out.text.find("model"), 0U);
}

// Symbols s1 (x.0, 1 … 64) and s2 (unbounded), with macs as a formula.
class TextBySize : public TextReport {
 protected:
  TextBySize() {
    r.symbols.push_back(
        {sizeof(tmeter_symbol_info), 0, fake::str(batch_), 1, 64, 8, fake::str(place_)});
    r.symbols.push_back({sizeof(tmeter_symbol_info), 0, fake::str(size_), 2, INT64_MAX, 32, {}});
    r.formulas = {{.metric = macs,
                   .text = "6,000·s1·s2² + 5",
                   .symbols = {0, 1},
                   .terms = {{6000, {1, 2}}, {5, {0, 0}}}},
                  {.metric = macs, .module = 1, .text = "7·s1", .terms = {{7, {1, 0}}}},
                  {.metric = energy, .text = "8", .symbols = {0, 1}, .terms = {{8, {0, 0}}}}};
  }
  const std::string batch_ = "s1", size_ = "s2", place_ = "x.0";
};

TEST_F(TextBySize, FormulasOfTotalsAreListedBelowWithTheirSymbols) {
  const auto text = write();
  EXPECT_NE(text.find("\nby size: s1 = x.0 (1 … 64) · s2 (2 … any)\n"
                      "  MACs = 6,000·s1·s2² + 5\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(line_with({"7·s1"}), "");       // a module's formula
  EXPECT_EQ(line_with({"energy = "}), "");  // depends on no size
  r.formulas[0].flags = TMETER_FORMULA_PARTIAL;
  r.views = {{"raw", "1"}};
  EXPECT_EQ(line_with({"6000"}), "  MACs ≥ 6000·s1·s2² + 5");
}

TEST_F(TextBySize, LongFormulasWrap) {
  for (int i = 0; i < 20; ++i) r.formulas[0].text += " + 123,456,789·s1·s2";
  for (const auto& line : lines(80)) EXPECT_LE(text_report::display_width(line), 80U) << line;
}

TEST_F(TextBySize, ASweepTakesThePlaceOfTheTree) {
  const auto total = [](int64_t m) {
    return std::vector<tmeter_number>{fake::integer(1), fake::at_least(m), {}, {}};
  };
  r.sweep = {{0, 1}, {{1, 16}, {8, 32}}, {total(1536005), total(49152005)}};
  const auto header = line_with({"s1 (x.0)", "s2", "MACs", "energy"});
  EXPECT_NE(header, "");
  EXPECT_EQ(header.find("params"), std::string::npos);  // no size changes them
  EXPECT_NE(line_with({"16", "≥1.54 M"}), "");          // acme::fused has no rule
  EXPECT_NE(line_with({"32", "≥49.15 M"}), "");
  EXPECT_EQ(line_with({"stem"}).find("├─"), std::string::npos);
  EXPECT_EQ(line_with({"params 25,557,032"}), "");
  r.views = {{"columns", "params"}};
  EXPECT_NE(line_with({"s1 (x.0)", "params"}), "");
}

}  // namespace
