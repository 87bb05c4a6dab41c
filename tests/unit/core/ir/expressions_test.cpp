// The operators' semantics are sympy's (floor division and modulo round towards −∞), by hand.
#include "core/ir/expressions.hpp"

#include <tmeter/abi/builder.h>

#include "tests/support/expect_error.hpp"

namespace tmeter::core {
namespace {

struct Case {
  int32_t op;
  int64_t a, b, expected;

  friend void PrintTo(const Case& c, std::ostream* out) {
    *out << c.op << ": " << c.a << ", " << c.b;
  }
};

class Binary : public ::testing::TestWithParam<Case> {};

TEST_P(Binary, HasSympysMeaning) {
  const auto c = GetParam();
  Expressions e;
  const auto id = e.add(c.op, {e.add_int(c.a), e.add_int(c.b)});
  e.evaluate({});
  EXPECT_EQ(e.value(id), c.expected);
}

INSTANTIATE_TEST_SUITE_P(
    Operators, Binary,
    ::testing::Values(Case{TMETER_EXPR_ADD, 2, 3, 5}, Case{TMETER_EXPR_MUL, -2, 3, -6},
                      Case{TMETER_EXPR_POW, 3, 4, 81}, Case{TMETER_EXPR_POW, -1, 3, -1},
                      Case{TMETER_EXPR_FLOORDIV, 7, 2, 3}, Case{TMETER_EXPR_FLOORDIV, -7, 2, -4},
                      Case{TMETER_EXPR_CEILDIV, 7, 2, 4}, Case{TMETER_EXPR_CEILDIV, -7, 2, -3},
                      Case{TMETER_EXPR_MOD, 7, 3, 1}, Case{TMETER_EXPR_MOD, -7, 3, 2},
                      Case{TMETER_EXPR_TRUEDIV, 8, 4, 2}, Case{TMETER_EXPR_MAX, 2, 9, 9},
                      Case{TMETER_EXPR_MIN, 2, 9, 2}, Case{TMETER_EXPR_LT, 2, 9, 1},
                      Case{TMETER_EXPR_GE, 2, 9, 0}, Case{TMETER_EXPR_EQ, 4, 4, 1}));

TEST(Expressions, SymbolsAreBoundAndRendered) {
  Expressions e;
  std::vector<Symbol> symbols{{"s77", 2, 1024, 8}};
  const auto s = e.add_symbol(0);
  const auto sum = e.add(TMETER_EXPR_ADD, {s, e.add_int(1)});
  const auto product = e.add(TMETER_EXPR_MUL, {e.add_int(2), sum});
  e.evaluate(symbols);
  EXPECT_EQ(e.value(product), 18);
  EXPECT_EQ(e.text(product), "2*(s77+1)");
  symbols[0].value = 100;
  e.evaluate(symbols);
  EXPECT_EQ(e.value(product), 202);
}

TEST(Expressions, OverflowAndDivisionByZeroNameTheExpression) {
  const Case cases[] = {{TMETER_EXPR_MUL, INT64_MAX, 2, 0},
                        {TMETER_EXPR_FLOORDIV, 1, 0, 0},
                        {TMETER_EXPR_POW, 10, 40, 0},
                        {TMETER_EXPR_TRUEDIV, 7, 2, 0}};
  for (const auto& c : cases) {
    Expressions e;
    const auto id = e.add(c.op, {e.add_int(c.a), e.add_int(c.b)});
    const auto around = e.add(TMETER_EXPR_ADD, {id, e.add_int(5)});
    e.evaluate({});
    EXPECT_EQ(e.find_value(around), std::nullopt);
    testing::expect_error(ErrorKind::kModel, {"shape expression " + e.text(id) + " has no"},
                          [&] { e.value(around); });
  }
}

TEST(Expressions, ABranchThatIsNotTakenNeedsNoValue) {
  Expressions e;
  std::vector<Symbol> symbols{{"s", 0, 8, 0}};
  const auto s = e.add_symbol(0), four = e.add_int(4);
  const auto quotient = e.add(TMETER_EXPR_FLOORDIV, {four, s});
  const auto chosen = e.add(TMETER_EXPR_WHERE, {s, quotient, four});
  e.evaluate(symbols);
  EXPECT_EQ(e.value(chosen), 4);
  symbols[0].value = 2;
  e.evaluate(symbols);
  EXPECT_EQ(e.value(chosen), 2);
}

TEST(Expressions, ReportsItsSymbolsAndDivisibility) {
  Expressions e;
  const auto a = e.add_symbol(1), b = e.add_symbol(0), zero = e.add_int(0);
  const auto product = e.add(TMETER_EXPR_MUL, {a, b, a});
  EXPECT_EQ(e.symbols_in(product), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(e.symbols_in(a), std::vector<size_t>{1});
  EXPECT_TRUE(e.symbols_in(zero).empty());
  const auto rest = e.add(TMETER_EXPR_MOD, {product, e.add_int(8)});
  EXPECT_TRUE(e.is_divisibility(e.add(TMETER_EXPR_EQ, {rest, zero})));
  EXPECT_FALSE(e.is_divisibility(e.add(TMETER_EXPR_EQ, {rest, e.add_int(1)})));
  EXPECT_FALSE(e.is_divisibility(e.add(TMETER_EXPR_NE, {rest, zero})));
  EXPECT_FALSE(e.is_divisibility(e.add(TMETER_EXPR_EQ, {product, zero})));
  EXPECT_FALSE(e.is_divisibility(zero));
}

TEST(Expressions, OperandsMustExist) {
  Expressions e;
  testing::expect_error(ErrorKind::kModel, {"does not exist"}, [&] {
    e.add(TMETER_EXPR_ADD, {1, 2});
  });
  const auto one = e.add_int(1);
  testing::expect_error(ErrorKind::kModel, {"number of operands"},
                        [&] { e.add(TMETER_EXPR_POW, {one}); });
  testing::expect_error(ErrorKind::kModel, {"unknown operator"}, [&] { e.add(99, {one}); });
}

TEST(Expressions, DeeplySharedExpressionsStayCheap) {
  Expressions e;
  auto id = e.add_int(1);
  for (int i = 0; i < 100000; ++i)
    id = e.add(TMETER_EXPR_MAX, {id, id});  // a tree would have 2^100000 leaves
  e.evaluate({});
  EXPECT_EQ(e.value(id), 1);
  EXPECT_LT(e.text(id).size(), 200u);
}

}  // namespace
}  // namespace tmeter::core
