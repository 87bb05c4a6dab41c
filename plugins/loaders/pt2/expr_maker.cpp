#include "expr_maker.hpp"

#include <tmeter/abi/builder.h>

#include <algorithm>
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
  constexpr double kLargest = 1e12, kLargestDen = 65536;
  const double target = std::fabs(value);
  if (!(target <= kLargest)) throw ExprError("a number is out of range");
  double p0 = 0, q0 = 1, p1 = 1, q1 = 0, rest = target;
  for (int step = 0; step < 40; ++step) {
    const double whole = std::floor(rest);
    const double p = whole * p1 + p0, q = whole * q1 + q0;
    if (!(p <= kLargest * kLargestDen) || q > kLargestDen) break;
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
  if (!is_one(f.den)) throw ExprError("a fraction stands where an integer is needed");
  return f.num;
}

Expr ExprMaker::finish(Fraction root) {
  expr_.num_ = root.num;
  expr_.den_ = root.den;
  return std::move(expr_);
}

}  // namespace pt2
