// The words of enums; the schema of JSON reports and the page of the html report must use the same.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <tmeter/cpp/vocabulary.hpp>

namespace {

namespace words = tmeter::vocabulary;

std::string contents(const std::string& path) {
  std::ifstream file(TMETER_SOURCE "/" + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// ["sum", "max"] as JSON and TypeScript write it.
template <size_t N>
std::string list(const words::Words<N>& vocabulary, const std::string& last = {}) {
  std::string text = "[";
  for (const auto word : vocabulary.words)
    text += (text.size() > 1 ? ", \"" : "\"") + std::string(word) + "\"";
  return text + (last.empty() ? "" : ", \"" + last + "\"") + "]";
}

TEST(Vocabulary, EveryWordHasItsNumberAndBack) {
  const auto both_ways = [](const auto& vocabulary) {
    for (size_t i = 0; i < vocabulary.words.size(); ++i) {
      const auto number = static_cast<int32_t>(i);
      EXPECT_EQ(vocabulary.number(vocabulary.word(number)), number) << vocabulary.word(number);
    }
  };
  both_ways(words::kUnitKinds);
  both_ways(words::kAxes);
  both_ways(words::kAggregations);
  both_ways(words::kBetter);
  both_ways(words::kSeverities);
  both_ways(words::kProvenances);
  both_ways(words::kTensorKinds);
  both_ways(words::kCellStatuses);
}

TEST(Vocabulary, WordsMatchTheNumbersOfTheAbi) {
  EXPECT_EQ(words::kUnitKinds.word(TMETER_UNIT_WATT), "watt");
  EXPECT_EQ(words::kAxes.word(TMETER_AXIS_MODEL), "model");
  EXPECT_EQ(words::kAggregations.word(TMETER_AGGREGATE_WEIGHTED_MEAN), "weighted_mean");
  EXPECT_EQ(words::kBetter.word(TMETER_BETTER_NEITHER), "neither");
  EXPECT_EQ(words::kSeverities.word(TMETER_SEVERITY_ERROR), "error");
  EXPECT_EQ(words::kProvenances.word(TMETER_PROVENANCE_ESTIMATED), "estimated");
  EXPECT_EQ(words::kTensorKinds.word(TMETER_TENSOR_CONSTANT), "constant");
  EXPECT_EQ(words::kCellStatuses.word(static_cast<int32_t>(words::CellStatus::kByModule)),
            "by_module");
}

TEST(Vocabulary, NewerNumbersAndWordsAreOther) {
  EXPECT_EQ(words::kAxes.word(99), "other");
  EXPECT_EQ(words::kSeverities.word(-1), "other");
  EXPECT_EQ(words::kAxes.number("galaxy"), words::kOtherNumber);
  EXPECT_EQ(words::kAxes.number(""), words::kOtherNumber);
}

TEST(Vocabulary, TheSchemaOfReportsListsTheSameWords) {
  const auto schema = contents("docs/schema/tmeter-report-1.schema.json");
  EXPECT_NE(schema.find("\"enum\": " + list(words::kUnitKinds)), schema.npos);
  for (const auto& expected :
       {list(words::kAxes, "other"), list(words::kAggregations, "other"),
        list(words::kBetter, "other"), list(words::kSeverities, "other"),
        list(words::kProvenances, "other"), list(words::kTensorKinds, "other")})
    EXPECT_NE(schema.find("\"enum\": " + expected), schema.npos) << expected;
  auto statuses = list(words::kCellStatuses);  // "by_module" is a separate list in rows
  statuses.erase(statuses.find(", \"by_module\""), std::string(", \"by_module\"").size());
  EXPECT_NE(schema.find("\"enum\": " + statuses), schema.npos) << statuses;
}

TEST(Vocabulary, ThePageNamesSeveritiesProvenancesAndTensorKindsAlike) {
  const auto codes = contents("plugins/reports/html/web/src/data/codes.ts");
  for (const auto& expected :
       {list(words::kSeverities), list(words::kProvenances), list(words::kTensorKinds)})
    EXPECT_NE(codes.find("named(" + expected + ")"), codes.npos) << expected;
  std::string unit_kinds;  // { count: 0, byte: 1, … }
  for (size_t i = 0; i < words::kUnitKinds.words.size(); ++i)
    unit_kinds +=
        (i ? ", " : "") + std::string(words::kUnitKinds.words[i]) + ": " + std::to_string(i);
  EXPECT_NE(codes.find(unit_kinds), codes.npos) << unit_kinds;
}

}  // namespace
