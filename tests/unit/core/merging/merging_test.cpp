// Reports of shards merged into one, and an index of models.
#include "core/merging/merging.hpp"

#include <gtest/gtest.h>

#include "core/ir/builder.hpp"
#include "tests/support/expect_error.hpp"

namespace tmeter::core {
namespace {
using testing::expect_error;

constexpr const char* kFirst = "model-00001-of-00002.safetensors";
constexpr const char* kSecond = "model-00002-of-00002.safetensors";

struct Stored {
  std::string module, name;
  int64_t params;
};

/// The report of a shard: tensors, and the metric `params` of each.
Part shard(const std::string& file, const std::vector<Stored>& tensors) {
  GraphBuilder b;
  const auto root = b.module(0, "", "");
  std::map<std::string, GraphBuilder::Id> modules;
  b.property("content", "weights");
  Part part;
  part.path = file + ".json";
  auto& report = part.saved.report;
  auto& c = report.results.columns.emplace_back();
  c.id = "params";
  c.plugin = "org.tmeter.params";
  c.convention = "a test's";
  c.axis = TMETER_AXIS_TENSOR;
  c.aggregation = TMETER_AGGREGATE_SUM;
  int64_t total = 0;
  for (const auto& t : tensors) {
    auto& owner = modules[t.module];
    if (!owner) owner = b.module(root, t.module, "");
    const auto name = t.module + "." + t.name;
    const std::vector<int64_t> dims{t.params};
    TensorSpec spec;
    spec.dtype = 6;
    spec.name = name;
    spec.owner = owner;
    spec.dims = dims;
    b.tensor(spec);
    c.cells[TMETER_AXIS_TENSOR].add(number(t.params));
    total += t.params;
  }
  c.cells[TMETER_AXIS_MODEL] = {number(total)};
  part.saved.graph = b.finish();
  report.graph = part.saved.graph.get();
  report.properties["model.file"] = file;
  report.properties["model.size"] = "100";
  return part;
}

std::vector<Part> parts(Part a, Part b) {
  std::vector<Part> out;
  out.push_back(std::move(a));
  out.push_back(std::move(b));
  return out;
}

void say(Part& part, const std::string& text, const std::string& evidence) {
  auto& f = part.saved.report.results.findings.emplace_back();
  f.rule = "r";
  f.plugin = "p";
  f.text = text;
  f.evidence = evidence;
}

TEST(Merging, EqualFindingsAreMergedWithACount) {
  auto a = shard(kFirst, {{"a", "weight", 3}}), b = shard(kSecond, {{"b", "weight", 5}});
  for (auto* part : {&a, &b}) {
    say(*part, "same", "evidence");
    say(*part, "unlike", part == &a ? "1 MiB" : "2 MiB");
    part->saved.report.warnings.push_back("slow");
  }
  say(b, "alone", "");
  const auto merged = merge_shards(parts(std::move(a), std::move(b)));
  const auto& found = merged.report.results.findings;
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].text, "in 2 files: same");
  EXPECT_EQ(found[0].evidence, "evidence");
  EXPECT_EQ(found[1].text, "in 2 files: unlike");
  EXPECT_EQ(found[1].evidence, std::string(kFirst) + ": 1 MiB");
  EXPECT_EQ(found[2].text, std::string(kSecond) + ": alone");
  EXPECT_EQ(merged.report.warnings, std::vector<std::string>{"in 2 files: slow"});
}

TEST(Merging, KeepsTheCommonHardwareOfAllShards) {
  auto a = shard(kFirst, {{"a", "weight", 3}}), b = shard(kSecond, {{"b", "weight", 5}});
  a.saved.report.properties["hardware"] = b.saved.report.properties["hardware"] = "nvidia-a100";
  EXPECT_EQ(merge_shards(parts(std::move(a), std::move(b))).report.properties.at("hardware"),
            "nvidia-a100");
}

TEST(Merging, RollsUpTheTensorsOfAllShards) {
  const auto merged = merge_shards(parts(shard(kSecond, {{"b", "weight", 5}, {"a", "bias", 2}}),
                                         shard(kFirst, {{"a", "weight", 3}})));
  const auto& c = merged.report.results.columns.at(0);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 10);
  std::map<std::string, int64_t> by_path;
  for (const auto* m : merged.graph->modules())
    by_path[std::string(m->path)] = c.cell(TMETER_AXIS_MODULE, m->index).i;
  EXPECT_EQ(by_path, (std::map<std::string, int64_t>{{"", 10}, {"a", 5}, {"b", 5}}));
  EXPECT_EQ(merged.graph->tensors().size(), 3u);
  EXPECT_EQ(merged.report.properties.at("model.file"), "model.safetensors");
  EXPECT_EQ(merged.report.properties.at("model.size"), "200");
  EXPECT_EQ(merged.report.results.findings.back().rule, "merged");
}

TEST(Merging, DoesNotDependOnTheOrderOfTheReports) {
  const auto a = [] { return shard(kFirst, {{"a", "weight", 3}}); };
  const auto b = [] { return shard(kSecond, {{"b", "weight", 5}}); };
  const auto one = merge_shards(parts(a(), b())), other = merge_shards(parts(b(), a()));
  ASSERT_EQ(one.graph->tensors().size(), other.graph->tensors().size());
  for (size_t i = 0; i < one.graph->tensors().size(); ++i)
    EXPECT_EQ(one.graph->tensors()[i].name, other.graph->tensors()[i].name);
}

TEST(Merging, RefusesAnIncompleteCheckpoint) {
  const auto refused = [](const std::vector<std::string>& words, Part a, Part b) {
    expect_error(ErrorKind::kModel, words,
                 [&] { merge_shards(parts(std::move(a), std::move(b))); });
  };
  refused({"1 is", "number 3"}, shard("m-00001-of-00003.bin", {{"a", "w", 1}}),
          shard("m-00002-of-00003.bin", {{"b", "w", 1}}));
  refused({"different checkpoints"}, shard(kFirst, {{"a", "w", 1}}),
          shard("other-00002-of-00002.safetensors", {{"b", "w", 1}}));
  refused({"a.w"}, shard(kFirst, {{"a", "w", 1}}), shard(kSecond, {{"a", "w", 1}}));
  auto other = shard(kSecond, {{"b", "w", 1}});
  other.saved.report.results.columns[0].convention = "another's";
  refused({"'params'", "differently"}, shard(kFirst, {{"a", "w", 1}}), std::move(other));
  expect_error(ErrorKind::kUsage, {"no reports"}, [] { merge_shards({}); });
}

TEST(Merging, KeepsTheTargetsOfFindings) {
  auto second = shard(kSecond, {{"b", "weight", 5}});
  auto& f = second.saved.report.results.findings.emplace_back();
  f.severity = TMETER_SEVERITY_WARNING;
  f.rule = "nan";
  f.text = "has NaN";
  f.targets.push_back({TMETER_AXIS_TENSOR, 0, 0});
  const auto merged = merge_shards(parts(shard(kFirst, {{"a", "weight", 3}}), std::move(second)));
  const auto& kept = merged.report.results.findings.front();
  EXPECT_EQ(kept.text, std::string(kSecond) + ": has NaN");
  ASSERT_EQ(kept.targets.size(), 1u);
  EXPECT_EQ(merged.graph->tensors()[kept.targets[0].index].name, "b.weight");
}

TEST(ModelIndex, HasARowForEachModelAndTheirSum) {
  ModelIndex index;
  index.add(shard("a.safetensors", {{"a", "w", 3}}));
  index.add(shard("b.safetensors", {{"a", "w", 4}}));
  const auto saved = index.finish();
  const auto& c = saved.report.results.columns.at(0);
  ASSERT_EQ(saved.graph->modules().size(), 3u);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 1).i, 3);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODULE, 2).i, 4);
  EXPECT_EQ(c.cell(TMETER_AXIS_MODEL, 0).i, 7);
}

TEST(ModelIndex, NumbersModelsWithOneNameAndLeavesOutOtherConventions) {
  ModelIndex index;
  index.add(shard("a.safetensors", {{"a", "w", 3}}));
  auto other = shard("a.safetensors", {{"a", "w", 4}});
  other.saved.report.results.columns[0].convention = "another's";
  index.add(other);
  const auto saved = index.finish();
  EXPECT_NE(saved.graph->modules()[1]->name, saved.graph->modules()[2]->name);
  EXPECT_EQ(saved.report.results.columns.at(0).cell(TMETER_AXIS_MODEL, 0).i, 3);
  ASSERT_EQ(saved.report.warnings.size(), 1u);
  EXPECT_NE(saved.report.warnings[0].find("another convention"), std::string::npos);
}

TEST(ModelIndex, RefusesASumBeyond63Bits) {
  ModelIndex index;
  for (const char* name : {"a", "b"}) {
    auto part = shard(name, {{"a", "w", 1}});
    part.saved.report.results.columns[0].cells[TMETER_AXIS_MODEL] = {number(INT64_MAX)};
    index.add(part);
  }
  expect_error(ErrorKind::kModel, {"'params'", "exceeds 2^63"}, [&] { index.finish(); });
}

}  // namespace
}  // namespace tmeter::core
