#include "expr.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace pt2 {
namespace {

using Values = std::map<std::string, int64_t, std::less<>>;

std::optional<Expr::Ratio> ratio(std::string_view text, const Values& values = {}) {
  const Expr e = Expr::parse(text);
  std::vector<int64_t> in_order;
  for (const auto name : e.symbols()) in_order.push_back(values.find(name)->second);
  return e.evaluate(in_order);
}

int64_t value(std::string_view text, const Values& values = {}) {
  const auto r = ratio(text, values);
  EXPECT_TRUE(r.has_value()) << text;
  EXPECT_EQ(r ? r->den : 1, 1) << text;
  return r ? r->num : INT64_MIN;
}

#define S77 "Symbol('s77', positive=True, integer=True)"
#define U0 "Symbol('u0', integer=True)"

TEST(Pt2Expr, ReadsSizesAsTorchWritesThem) {
  EXPECT_EQ(value(S77, {{"s77", 8}}), 8);
  EXPECT_EQ(value("Mul(Integer(2), " S77 ")", {{"s77", 4}}), 8);
  EXPECT_EQ(value("Add(" S77 ", Integer(-1))", {{"s77", 4}}), 3);
  EXPECT_EQ(value("FloorDiv(Add(" S77 ", Integer(1)), Integer(2))", {{"s77", 32}}), 16);
  EXPECT_EQ(value("Mod(" S77 ", Integer(5))", {{"s77", 48}}), 3);
  EXPECT_EQ(value("Mul(Integer(28), Max(Integer(1), Add(" S77 ", Integer(-1))))", {{"s77", 1}}),
            28);
  EXPECT_EQ(value("Pow(" S77 ", Integer(2))", {{"s77", 7}}), 49);
  EXPECT_EQ(value("PowByNatural(" S77 ", Integer(3))", {{"s77", 2}}), 8);
  EXPECT_EQ(value("CeilDiv(" S77 ", Integer(4))", {{"s77", 9}}), 3);
  EXPECT_EQ(value("ModularIndexing(" S77 ", Integer(3), Integer(4))", {{"s77", 17}}), 1);
  EXPECT_EQ(value("Min(" S77 ", Integer(3))", {{"s77", 17}}), 3);
}

TEST(Pt2Expr, ReadsPlainText) {
  EXPECT_EQ(value("s0", {{"s0", 5}}), 5);
  EXPECT_EQ(value("2*s77", {{"s77", 4}}), 8);
  EXPECT_EQ(value("s0 + s1*3 - 1", {{"s0", 5}, {"s1", 2}}), 10);
  EXPECT_EQ(value("-s0**2 + 1", {{"s0", 3}}), -8);
  EXPECT_EQ(value("2**3**2"), 512);
  EXPECT_EQ(value("(s0 - 1)//2", {{"s0", 8}}), 3);
  EXPECT_EQ(value("-7//2"), -4);
  EXPECT_EQ(value("-7 % 3"), 2);
  EXPECT_EQ(value("floor(s0/2) + ceiling(s0/2)", {{"s0", 7}}), 7);
  EXPECT_EQ(value("Max(2, s0)", {{"s0", 1}}), 2);
}

TEST(Pt2Expr, ReadsGuards) {
  const std::string a = "L['x'].size()[0]", b = "L['d'][\"k k\"][12].part.size()[1]", n = "L['n']";
  const Values values{{a, 6}, {b, 4}, {n, 3}};
  const auto of = [&](const std::string& text) { return value(text, values); };
  EXPECT_EQ(of(a + " * " + b + "+" + n), 27);
  EXPECT_EQ(of("((" + a + "*" + b + ") % 8) == 0"), 1);
  EXPECT_EQ(of("not (" + a + " == 6) or " + b + " != 4 and " + n + " == 3"), 0);
  EXPECT_EQ(of(a + " == 5 and " + a + " == 4 or " + n + " == 3"), 1);  // and binds closer
  EXPECT_EQ(of("not " + a + " == 5 and " + n + " == 3"), 1);           // not closer than and
  EXPECT_EQ(of("math.trunc(1.5*torch.sym_float(" + n + ")) == 4"), 1);
  EXPECT_EQ(of("math.floor(" + n + " / 2) + math.ceil(" + n + " / 2)"), 3);
  EXPECT_EQ(of("torch.sym_max(1, " + n + ", " + a + ") - torch.sym_min(2, " + n + ")"), 4);
  EXPECT_EQ(of("2 + (" + a + " if " + n + " > 3 else (7 if " + n + " == 3 else 8))"), 9);
  EXPECT_EQ(of("(" + a + " / " + b + ") <= 1.5"), 1);
  EXPECT_EQ(value("order + android + notes", {{"order", 1}, {"android", 2}, {"notes", 4}}), 7);
}

TEST(Pt2Expr, FollowsPythonForNegativeNumbers) {
  EXPECT_EQ(value("FloorDiv(Integer(-7), Integer(2))"), -4);
  EXPECT_EQ(value("CeilDiv(Integer(-7), Integer(2))"), -3);
  EXPECT_EQ(value("PythonMod(Integer(-7), Integer(3))"), 2);
  EXPECT_EQ(value("PythonMod(Integer(7), Integer(-3))"), -2);
  EXPECT_EQ(value("TruncToInt(IntTrueDiv(" U0 ", Integer(2)))", {{"u0", -7}}), -3);
  EXPECT_EQ(value("FloorToInt(IntTrueDiv(" U0 ", Integer(2)))", {{"u0", -7}}), -4);
}

TEST(Pt2Expr, KeepsFractionsUntilTheyAreRounded) {
  EXPECT_EQ(value("TruncToInt(Mul(Float('1.5', precision=53), ToFloat(" S77 ")))", {{"s77", 33}}),
            49);
  EXPECT_EQ(value("CeilToInt(IntTrueDiv(" S77 ", Integer(3)))", {{"s77", 10}}), 4);
  EXPECT_EQ(value("Mul(Rational(1, 2), " S77 ", Integer(4))", {{"s77", 3}}), 6);
  EXPECT_EQ(value("Add(Rational(1, 2), Rational(1, 3), Rational(1, 6))"), 1);
  EXPECT_EQ(value("Pow(Integer(2), Integer(-1)) * s0", {{"s0", 6}}), 3);
  const auto third = ratio("IntTrueDiv(" S77 ", Integer(3))", {{"s77", 4}});
  ASSERT_TRUE(third);
  EXPECT_EQ(third->num, 4);
  EXPECT_EQ(third->den, 3);
}

TEST(Pt2Expr, RoundsHalvesToEvenAsPythonDoes) {
  const std::string half = "RoundToInt(IntTrueDiv(" U0 ", Integer(2)))";
  EXPECT_EQ(value(half, {{"u0", 1}}), 0);
  EXPECT_EQ(value(half, {{"u0", 3}}), 2);
  EXPECT_EQ(value(half, {{"u0", 5}}), 2);
  EXPECT_EQ(value(half, {{"u0", 6}}), 3);
  EXPECT_EQ(value(half, {{"u0", -1}}), 0);
  EXPECT_EQ(value(half, {{"u0", -3}}), -2);
}

TEST(Pt2Expr, ReportsWhereTorchComputesInFloatingPoint) {
  EXPECT_FALSE(Expr::parse("TruncToInt(Mul(Float('1.5'), s0))").is_rounded());
  EXPECT_TRUE(
      Expr::parse("TruncToInt(Mul(Float('0.69999999999999996', precision=53), s0))").is_rounded());
  EXPECT_EQ(value("TruncToInt(Mul(Float('0.69999999999999996'), s0))", {{"s0", 32}}), 22);
}

TEST(Pt2Expr, EvaluatesConditions) {
  EXPECT_EQ(value("GreaterThan(" U0 ", Integer(2))", {{"u0", 2}}), 1);
  EXPECT_EQ(value("StrictLessThan(" U0 ", Integer(2))", {{"u0", 2}}), 0);
  EXPECT_EQ(value("Not(Equality(" U0 ", Integer(2)))", {{"u0", 2}}), 0);
  EXPECT_EQ(value("And(u0 > 1, u0 <= 3)", {{"u0", 3}}), 1);
  const std::string piecewise = "Piecewise(ExprCondPair(Integer(7), Equality(" U0
                                ", Integer(1))), ExprCondPair(Integer(9), true))";
  EXPECT_EQ(value(piecewise, {{"u0", 1}}), 7);
  EXPECT_EQ(value(piecewise, {{"u0", 0}}), 9);
  EXPECT_EQ(value("Piecewise((7, Eq(u0, 1)), (9, True))", {{"u0", 1}}), 7);
  EXPECT_EQ(value("Where(" U0 " > 0, FloorDiv(Integer(8), " U0 "), Integer(5))", {{"u0", 0}}), 5);
}

TEST(Pt2Expr, ReportsItsProperties) {
  EXPECT_TRUE(Expr::parse(S77).is_symbol());
  EXPECT_FALSE(Expr::parse("2*s77").is_symbol());
  EXPECT_EQ(Expr::parse("s0 + s1 + s0").symbols().size(), 2u);
  EXPECT_FALSE(Expr::parse("s0/2").is_whole());
}

TEST(Pt2Expr, HasNoValueOnOverflowOrDivisionByZero) {
  EXPECT_FALSE(ratio("s0*s0", {{"s0", INT64_MAX}}));
  EXPECT_FALSE(ratio("9223372036854775807 + s0", {{"s0", 1}}));
  EXPECT_FALSE(ratio("FloorDiv(s0, s1)", {{"s0", 1}, {"s1", 0}}));
  EXPECT_FALSE(ratio("Pow(s0, Integer(64))", {{"s0", 2}}));
  EXPECT_FALSE(ratio("2**s0", {{"s0", INT64_MAX}}));
}

TEST(Pt2Expr, RefusesUnsupportedExpressions) {
  for (const char* text : {"",
                           "(",
                           "Add(",
                           "Add()",
                           "Mul(s0,)",
                           "Symbol('')",
                           "Symbol()",
                           "s0 +",
                           "s0 s1",
                           "sqrt(s0)",
                           "Pow(s0, Rational(1, 2))",
                           "Float('inf')",
                           "Float('0.123456789012345')",
                           "oo",
                           "'text'",
                           "Integer('x')",
                           "99999999999999999999",
                           "Piecewise()",
                           "Piecewise(s0)",
                           "1e400",
                           "\xff",
                           "Symbol('a', positive=",
                           "Where(s0)",
                           "..5",
                           "1 < s0 < 3",
                           "1 == s0 == 1",
                           "s0 and",
                           "not",
                           "(s0 if s1)",
                           "(s0 if s1 else)",
                           "L[",
                           "L['",
                           "L['x'",
                           "L['x']]",
                           "L[x]",
                           "L['x'].size()[0",
                           "L['x'].size()[0] L['y']",
                           "$"})
    EXPECT_THROW(Expr::parse(text), ExprError) << text;
}

TEST(Pt2Expr, StaysBoundedOnHostileText) {
  EXPECT_THROW(Expr::parse(std::string(100'000, '(')), ExprError);
  EXPECT_THROW(Expr::parse(std::string(60'000, '(')), ExprError);
  EXPECT_THROW(Expr::parse(std::string(60'000, '-') + "1"), ExprError);
  EXPECT_THROW(Expr::parse("L['" + std::string(300, 'x') + "']"), ExprError);
  std::string path = "L";
  for (int i = 0; i < 10'000; ++i) path += "[0]";
  EXPECT_THROW(Expr::parse(path), ExprError);
  std::string inverted = "s0", chosen = "s0";
  for (int i = 0; i < 300; ++i) {
    inverted.insert(0, "not ");
    chosen = "(" + chosen + " if s1 else 1)";
  }
  EXPECT_THROW(Expr::parse(inverted), ExprError);
  EXPECT_THROW(Expr::parse(chosen), ExprError);
  std::string nested = "IntTrueDiv(u0, 2)";
  for (int i = 0; i < 100; ++i) nested = "RoundToInt(IntTrueDiv(" + nested + ", 3))";
  EXPECT_THROW(Expr::parse(nested),
               ExprError);  // nodes are shared: a tree would have 3^100 of them
  std::string sum = "s0";
  for (int i = 0; i < 20'000; ++i) sum += "+s0";
  EXPECT_THROW(Expr::parse(sum), ExprError);
}

}  // namespace
}  // namespace pt2
