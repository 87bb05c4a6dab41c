// Declarations of schemas about arguments and results, for PyTorch's native_functions.yaml; and
// invalid texts.
#include <gtest/gtest.h>

#include <string>
#include <tmeter/cpp/schema.hpp>

namespace {

using tmeter::Schema;
using Names = std::vector<std::string_view>;

/// "x:a! y" for arguments, the same for results.
std::string text_of(const std::vector<tmeter::SchemaItem>& items) {
  std::string out;
  for (const auto& i : items) {
    out += (out.empty() ? "" : " ") + std::string(i.name.empty() ? "_" : i.name);
    if (!i.memory.empty()) out += ":" + std::string(i.memory) + (i.written ? "!" : "");
  }
  return out;
}

TEST(Schema, ReportsSharedAndWrittenArguments) {
  const Schema in_place(
      "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)");
  EXPECT_EQ(text_of(in_place.arguments), "self:a! other alpha");
  EXPECT_EQ(text_of(in_place.results), "_:a!");
  EXPECT_TRUE(in_place.arguments[0].shares_memory_with(in_place.results[0]));
  EXPECT_FALSE(in_place.arguments[1].shares_memory_with(in_place.results[0]));

  const Schema split(
      "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]");
  EXPECT_EQ(text_of(split.arguments), "self:a split_size dim");
  EXPECT_EQ(text_of(split.results), "_:a");
  EXPECT_EQ(split.results[0].type, "Tensor(a)[]");

  const Schema two(
      "aten::topk.values(Tensor self, SymInt k, *, Tensor(a!) values, Tensor(b!) indices) -> "
      "(Tensor(a!) values, Tensor(b!) indices)");
  EXPECT_EQ(text_of(two.arguments), "self k values:a! indices:b!");
  EXPECT_EQ(text_of(two.results), "values:a! indices:b!");
  EXPECT_FALSE(two.arguments[2].shares_memory_with(two.results[1]));

  const Schema none(
      "aten::_foreach_add_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ()");
  EXPECT_EQ(text_of(none.arguments), "self:a! other alpha");
  EXPECT_TRUE(none.results.empty());
}

TEST(Schema, SetsOfLettersShareMemoryThroughACommonLetter) {
  const Schema s(
      "acme::f(Tensor(a) x, Tensor(b)? y, Tensor(*) z, Tensor w) -> (Tensor(a|b), Tensor(c), "
      "Tensor)");
  const auto shares = [&](size_t argument, size_t result) {
    return s.arguments[argument].shares_memory_with(s.results[result]);
  };
  EXPECT_TRUE(shares(0, 0) && shares(1, 0) && shares(2, 0) && shares(2, 1));
  EXPECT_FALSE(shares(0, 1) || shares(3, 0) || shares(2, 2) || shares(3, 2));
}

TEST(Schema, DefaultsHaveCommasAndQuotes) {
  const std::string text =
      R"(acme::f(Tensor x, int[] dims=[1, 2], str s="a, b=(c", *, bool fast=False, str? t='->') -> (Tensor, Tensor(a!)[]))";
  EXPECT_EQ(tmeter::schema_arguments(text), (Names{"x", "dims", "s", "fast", "t"}));
  EXPECT_EQ(tmeter::schema_results(text), 2u);
}

TEST(Schema, InvalidSchemasAreReadSafely) {
  for (const auto* text :
       {"", "acme::f", "acme::f(", "acme::f(Tensor", "acme::f)->(", "acme::f(Widget x) -> [",
        "acme::f(Tensor( x, y", "acme::f(Tensor x) -> (", "f(=, =) -> ,", "f(\""}) {
    const Schema s(text);
    EXPECT_LE(s.arguments.size(), 2u) << text;
    EXPECT_LE(s.results.size(), 1u) << text;
  }
}

}  // namespace
