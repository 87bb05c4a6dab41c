#include "expr_maker.hpp"

#include <tmeter/abi/builder.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace pt2 {
namespace {

constexpr uint64_t kMaxTreeSize = 10'000;
constexpr size_t kMaxNodes = 40'000;  // including those that folding discards

}  // namespace

ExprMaker::Ref ExprMaker::push(Expr::Node node, Info info) {
  if (info.tree_size > kMaxTreeSize || expr_.nodes_.size() >= kMaxNodes)
    throw ExprError("the expression is too large");
  expr_.nodes_.push_back(node);
  info_.push_back(info);
  return static_cast<Ref>(expr_.nodes_.size() - 1);
}

ExprMaker::Ref ExprMaker::integer(int64_t value) {
  const auto [it, added] = integers_.try_emplace(value, 0);
  if (added) it->second = push({Expr::kInteger, value, 0, 0}, {1, value >= 0});
  return it->second;
}

ExprMaker::Ref ExprMaker::symbol(std::string_view name, bool non_negative) {
  const auto [it, added] = symbols_.try_emplace(name, 0);
  if (added) {
    const auto index = static_cast<int64_t>(expr_.symbols_.size());
    expr_.symbols_.push_back(name);
    it->second = push({Expr::kSymbol, index, 0, 0}, {1, non_negative});
  }
  return it->second;
}

std::optional<int64_t> ExprMaker::constant(Ref r) const {
  const auto& n = expr_.nodes_[r];
  return n.op == Expr::kInteger ? std::optional(n.value) : std::nullopt;
}

std::optional<int64_t> ExprMaker::fold(int32_t op, std::span<const Ref> operands) const {
  std::vector<int64_t> values;
  for (const Ref r : operands) {
    const auto value = constant(r);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return apply_operator(op, values);
}

ExprMaker::Ref ExprMaker::apply(int32_t op, std::span<const Ref> operands) {
  if (const auto value = fold(op, operands)) return integer(*value);
  std::vector<Ref> kept(operands.begin(), operands.end());
  if (op == TMETER_EXPR_MUL) std::erase_if(kept, [&](Ref r) { return is_one(r); });
  if (op == TMETER_EXPR_ADD) std::erase_if(kept, [&](Ref r) { return constant(r) == 0; });
  const bool divides = op == TMETER_EXPR_FLOORDIV || op == TMETER_EXPR_CEILDIV;
  if (divides && is_one(kept[1])) return kept[0];
  const bool same_alone = op == TMETER_EXPR_MUL || op == TMETER_EXPR_ADD || op == TMETER_EXPR_MAX ||
                          op == TMETER_EXPR_MIN;
  if (same_alone && kept.size() == 1) return kept[0];
  uint64_t size = 1;
  for (const Ref r : kept) size += info_[r].tree_size;
  const auto first = static_cast<uint32_t>(expr_.operands_.size());
  expr_.operands_.insert(expr_.operands_.end(), kept.begin(), kept.end());
  return push({op, 0, first, static_cast<uint32_t>(kept.size())},
              {size, stays_non_negative(op, kept)});
}

bool ExprMaker::stays_non_negative(int32_t op, std::span<const Ref> operands) const {
  const auto holds = [&](Ref r) { return info_[r].non_negative; };
  switch (op) {
    case TMETER_EXPR_MAX:
      return std::ranges::any_of(operands, holds);
    case TMETER_EXPR_POW:
      return holds(operands[0]);
    case TMETER_EXPR_MOD:
      return holds(operands[1]);
    case TMETER_EXPR_WHERE:
      return holds(operands[1]) && holds(operands[2]);
    case TMETER_EXPR_EQ:
    case TMETER_EXPR_NE:
    case TMETER_EXPR_LT:
    case TMETER_EXPR_LE:
    case TMETER_EXPR_GT:
    case TMETER_EXPR_GE:
      return true;
    default:
      return std::ranges::all_of(operands, holds);
  }
}

Fraction ExprMaker::ratio(Ref num, Ref den) {
  const auto d = constant(den);
  if (d && *d < 0) {
    const Ref minus = integer(-1);
    num = apply(TMETER_EXPR_MUL, {minus, num});
    den = apply(TMETER_EXPR_MUL, {minus, den});
  }
  return {num, den};
}

Fraction ExprMaker::real(double value) {
  // Continued fraction: the convergents are the best approximations, smallest denominators first.
  constexpr double kMaxValue = 1e12, kMaxDenominator = 65536;
  const double target = std::fabs(value);
  if (!(target <= kMaxValue)) throw ExprError("a number is out of range");
  double p0 = 0, q0 = 1, p1 = 1, q1 = 0, rest = target;
  for (int step = 0; step < 40; ++step) {
    const double whole = std::floor(rest);
    const double p = whole * p1 + p0, q = whole * q1 + q0;
    if (!(p <= kMaxValue * kMaxDenominator) || q > kMaxDenominator) break;
    if (p / q == target) {
      const auto den = static_cast<int64_t>(q);
      if ((den & (den - 1)) != 0) expr_.rounded_ = true;  // binary floats hold halves exactly
      const auto num = static_cast<int64_t>(p);
      return {integer(value < 0 ? -num : num), integer(den)};
    }
    p0 = p1, q0 = q1, p1 = p, q1 = q;
    rest = 1 / (rest - whole);
  }
  throw ExprError("a floating-point number is not a simple fraction");
}

ExprMaker::Ref ExprMaker::whole_ref(Fraction f) const {
  if (!is_one(f.den)) throw ExprError("a fraction instead of an integer");
  return f.num;
}

Expr ExprMaker::finish(Fraction root) {
  expr_.num_ = root.num;
  expr_.den_ = root.den;
  return std::move(expr_);
}

namespace {

using Args = std::span<const Fraction>;
using Ref = Expr::Ref;

struct CommonDenominator {
  std::vector<Ref> nums;
  Ref den;
};

/// The same values over a common denominator.
CommonDenominator common_denominator(ExprMaker& m, Args a) {
  CommonDenominator c{{}, a[0].den};
  for (const Fraction f : a) c.nums.push_back(f.num);
  if (std::ranges::all_of(a, [&](Fraction f) { return f.den == c.den; })) return c;
  // Each is multiplied by the denominators before and after it.
  std::vector<Ref> behind(a.size(), m.integer(1));
  for (size_t i = a.size() - 1; i > 0; --i)
    behind[i - 1] = m.apply(TMETER_EXPR_MUL, {a[i].den, behind[i]});
  Ref before = m.integer(1);
  for (size_t i = 0; i < a.size(); ++i) {
    c.nums[i] = m.apply(TMETER_EXPR_MUL, {c.nums[i], before, behind[i]});
    before = m.apply(TMETER_EXPR_MUL, {before, a[i].den});
  }
  c.den = before;
  return c;
}

template <int32_t Op>  // ADD, MAX, MIN: linear in the numerators
Fraction over_common(ExprMaker& m, Args a) {
  const auto c = common_denominator(m, a);
  return {m.apply(Op, c.nums), c.den};
}

Fraction floor(ExprMaker& m, Args a) {
  return m.whole(m.apply(TMETER_EXPR_FLOORDIV, {a[0].num, a[0].den}));
}

Fraction ceiling(ExprMaker& m, Args a) {
  return m.whole(m.apply(TMETER_EXPR_CEILDIV, {a[0].num, a[0].den}));
}

/// Towards zero: the ceiling of negative values, the floor of others.
Fraction truncate(ExprMaker& m, Args a) {
  if (m.non_negative(a[0].num) && m.non_negative(a[0].den)) return floor(m, a);
  const Ref below = m.apply(TMETER_EXPR_LT, {a[0].num, m.integer(0)});
  return m.whole(m.apply(TMETER_EXPR_WHERE, {below, ceiling(m, a).num, floor(m, a).num}));
}

/// Rounds to the nearest integer and halves to even, like Python's round: floor(x + 1/2), minus one
/// if x is a half and the result is odd.
Fraction round_half_even(ExprMaker& m, Args a) {
  const Ref two = m.integer(2), zero = m.integer(0);
  const Ref twice = m.apply(TMETER_EXPR_ADD, {m.apply(TMETER_EXPR_MUL, {two, a[0].num}), a[0].den});
  const Ref den = m.apply(TMETER_EXPR_MUL, {two, a[0].den});
  const Ref up = m.apply(TMETER_EXPR_FLOORDIV, {twice, den});
  const Ref is_half = m.apply(TMETER_EXPR_EQ, {m.apply(TMETER_EXPR_MOD, {twice, den}), zero});
  const Ref odd = m.apply(TMETER_EXPR_MOD, {up, two});
  const Ref less = m.apply(TMETER_EXPR_MUL, {m.integer(-1), is_half, odd});
  return m.whole(m.apply(TMETER_EXPR_ADD, {up, less}));
}

Fraction same(ExprMaker&, Args a) { return a[0]; }

Fraction absolute(ExprMaker& m, Args a) {
  if (m.non_negative(a[0].num)) return a[0];
  return {m.apply(TMETER_EXPR_MAX, {a[0].num, m.apply(TMETER_EXPR_MUL, {m.integer(-1), a[0].num})}),
          a[0].den};
}

Fraction ceil_divide(ExprMaker& m, Args a) {
  const Fraction q = divide(m, a);
  return ceiling(m, std::span(&q, 1));
}

/// ModularIndexing(x, divisor, modulus) = x // divisor % modulus
Fraction modular_indexing(ExprMaker& m, Args a) {
  const std::array<Fraction, 2> parts{floor_divide(m, a.first(2)), a[2]};
  return modulo(m, parts);
}

Fraction shift_left(ExprMaker& m, Args a) {
  const Ref factor = m.apply(TMETER_EXPR_POW, {m.integer(2), m.whole_ref(a[1])});
  return m.whole(m.apply(TMETER_EXPR_MUL, {m.whole_ref(a[0]), factor}));
}

Fraction shift_right(ExprMaker& m, Args a) {
  const Ref factor = m.apply(TMETER_EXPR_POW, {m.integer(2), m.whole_ref(a[1])});
  return m.whole(m.apply(TMETER_EXPR_FLOORDIV, {m.whole_ref(a[0]), factor}));
}

Fraction where(ExprMaker& m, Args a) { return choose(m, a[0], a[1], a[2]); }

Fraction logical_not(ExprMaker& m, Args a) {
  return m.whole(m.apply(TMETER_EXPR_EQ, {m.whole_ref(a[0]), m.integer(0)}));
}

constexpr size_t kUnlimited = SIZE_MAX;

// Names as sympy.srepr writes them; the short ones as str() does, those with a dot as guards do.
// Sorted.
constexpr std::array<ExprFunctionRow, 56> kFunctions{{
    {"Abs", 1, 1, absolute},
    {"Add", 1, kUnlimited, add},
    {"And", 1, kUnlimited, logical_and},
    {"CeilDiv", 2, 2, ceil_divide},
    {"CeilToInt", 1, 1, ceiling},
    {"CleanDiv", 2, 2, floor_divide},
    {"Eq", 2, 2, compare<TMETER_EXPR_EQ>},
    {"Equality", 2, 2, compare<TMETER_EXPR_EQ>},
    {"FloatPow", 2, 2, power},
    {"FloatTrueDiv", 2, 2, divide},
    {"FloorDiv", 2, 2, floor_divide},
    {"FloorToInt", 1, 1, floor},
    {"Ge", 2, 2, compare<TMETER_EXPR_GE>},
    {"GreaterThan", 2, 2, compare<TMETER_EXPR_GE>},
    {"Gt", 2, 2, compare<TMETER_EXPR_GT>},
    {"Identity", 1, 1, same},
    {"IntTrueDiv", 2, 2, divide},
    {"Integer", 1, 1, same},
    {"LShift", 2, 2, shift_left},
    {"Le", 2, 2, compare<TMETER_EXPR_LE>},
    {"LessThan", 2, 2, compare<TMETER_EXPR_LE>},
    {"Lt", 2, 2, compare<TMETER_EXPR_LT>},
    {"Max", 1, kUnlimited, over_common<TMETER_EXPR_MAX>},
    {"Min", 1, kUnlimited, over_common<TMETER_EXPR_MIN>},
    {"Mod", 2, 2, modulo},
    {"ModularIndexing", 3, 3, modular_indexing},
    {"Mul", 1, kUnlimited, multiply},
    {"Ne", 2, 2, compare<TMETER_EXPR_NE>},
    {"Not", 1, 1, logical_not},
    {"Or", 1, kUnlimited, logical_or},
    {"Pow", 2, 2, power},
    {"PowByNatural", 2, 2, power},
    {"PythonMod", 2, 2, modulo},
    {"RShift", 2, 2, shift_right},
    {"Rational", 2, 2, divide},
    {"RoundToInt", 1, 1, round_half_even},
    {"StrictGreaterThan", 2, 2, compare<TMETER_EXPR_GT>},
    {"StrictLessThan", 2, 2, compare<TMETER_EXPR_LT>},
    {"ToFloat", 1, 1, same},
    {"TruncToFloat", 1, 1, truncate},
    {"TruncToInt", 1, 1, truncate},
    {"Unequality", 2, 2, compare<TMETER_EXPR_NE>},
    {"Where", 3, 3, where},
    {"abs", 1, 1, absolute},
    {"ceiling", 1, 1, ceiling},
    {"floor", 1, 1, floor},
    {"math.ceil", 1, 1, ceiling},
    {"math.floor", 1, 1, floor},
    {"math.trunc", 1, 1, truncate},
    {"max", 1, kUnlimited, over_common<TMETER_EXPR_MAX>},
    {"min", 1, kUnlimited, over_common<TMETER_EXPR_MIN>},
    {"round", 1, 1, round_half_even},
    {"torch.sym_float", 1, 1, same},
    {"torch.sym_max", 1, kUnlimited, over_common<TMETER_EXPR_MAX>},
    {"torch.sym_min", 1, kUnlimited, over_common<TMETER_EXPR_MIN>},
    {"trunc", 1, 1, truncate},
}};
static_assert(std::ranges::is_sorted(kFunctions, {}, &ExprFunctionRow::name));

}  // namespace

const ExprFunctionRow* find_expr_function(std::string_view name) {
  const auto it = std::ranges::lower_bound(kFunctions, name, {}, &ExprFunctionRow::name);
  return it != kFunctions.end() && it->name == name ? &*it : nullptr;
}

Fraction add(ExprMaker& m, Args a) { return over_common<TMETER_EXPR_ADD>(m, a); }

/// Conditions are 0 or 1: all of them, any of them.
Fraction logical_and(ExprMaker& m, Args a) { return over_common<TMETER_EXPR_MIN>(m, a); }
Fraction logical_or(ExprMaker& m, Args a) { return over_common<TMETER_EXPR_MAX>(m, a); }

Fraction multiply(ExprMaker& m, Args a) {
  std::vector<Ref> nums, dens;
  for (const Fraction f : a) nums.push_back(f.num), dens.push_back(f.den);
  return {m.apply(TMETER_EXPR_MUL, nums), m.apply(TMETER_EXPR_MUL, dens)};
}

Fraction subtract(ExprMaker& m, Args a) {
  const std::array<Fraction, 2> parts{
      a[0], Fraction{m.apply(TMETER_EXPR_MUL, {m.integer(-1), a[1].num}), a[1].den}};
  return add(m, parts);
}

Fraction divide(ExprMaker& m, Args a) {
  return m.ratio(m.apply(TMETER_EXPR_MUL, {a[0].num, a[1].den}),
                 m.apply(TMETER_EXPR_MUL, {a[0].den, a[1].num}));
}

Fraction floor_divide(ExprMaker& m, Args a) {
  const Fraction q = divide(m, a);
  return floor(m, std::span(&q, 1));
}

/// a - b * floor(a / b), the sign of the divisor; sympy's Mod and Python's % alike.
Fraction modulo(ExprMaker& m, Args a) { return over_common<TMETER_EXPR_MOD>(m, a); }

Fraction power(ExprMaker& m, Args a) {
  const Ref exponent = m.whole_ref(a[1]);
  const auto fixed = m.constant(exponent);
  if (fixed && *fixed < 0) {
    if (*fixed == INT64_MIN) throw ExprError("an exponent is out of range");
    const Ref positive = m.integer(-*fixed);
    return m.ratio(m.apply(TMETER_EXPR_POW, {a[0].den, positive}),
                   m.apply(TMETER_EXPR_POW, {a[0].num, positive}));
  }
  if (fixed == 1) return a[0];
  return {m.apply(TMETER_EXPR_POW, {a[0].num, exponent}),
          m.apply(TMETER_EXPR_POW, {a[0].den, exponent})};
}

/// Denominators are positive (constants by construction, sizes by nature).
template <int32_t Op>
Fraction compare(ExprMaker& m, Args a) {
  const auto c = common_denominator(m, a);
  return m.whole(m.apply(Op, c.nums));
}
template Fraction compare<TMETER_EXPR_EQ>(ExprMaker&, Args);
template Fraction compare<TMETER_EXPR_NE>(ExprMaker&, Args);
template Fraction compare<TMETER_EXPR_LT>(ExprMaker&, Args);
template Fraction compare<TMETER_EXPR_LE>(ExprMaker&, Args);
template Fraction compare<TMETER_EXPR_GT>(ExprMaker&, Args);
template Fraction compare<TMETER_EXPR_GE>(ExprMaker&, Args);

Fraction choose(ExprMaker& m, Fraction condition, Fraction value, Fraction rest) {
  const std::array<Fraction, 2> both{value, rest};
  const auto c = common_denominator(m, both);
  const Ref test = m.whole_ref(condition);
  if (const auto fixed = m.constant(test)) return *fixed ? value : rest;
  return {m.apply(TMETER_EXPR_WHERE, {test, c.nums[0], c.nums[1]}), c.den};
}

}  // namespace pt2
