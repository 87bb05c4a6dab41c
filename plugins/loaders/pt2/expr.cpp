#include "expr.hpp"

#include <tmeter/abi/builder.h>

#include <algorithm>
#include <numeric>

namespace pt2 {
namespace {

using Operands = std::span<const int64_t>;

std::optional<int64_t> sum(Operands v) {
  int64_t r = 0;
  for (const int64_t x : v)
    if (__builtin_add_overflow(r, x, &r)) return std::nullopt;
  return r;
}

std::optional<int64_t> product(Operands v) {
  int64_t r = 1;
  for (const int64_t x : v)
    if (__builtin_mul_overflow(r, x, &r)) return std::nullopt;
  return r;
}

std::optional<int64_t> int_power(int64_t base, int64_t exponent) {
  if (exponent < 0) return std::nullopt;
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 ? -1 : 1;
  int64_t r = 1;
  for (; exponent > 0; --exponent)  // at most 63 rounds: |base| >= 2
    if (__builtin_mul_overflow(r, base, &r)) return std::nullopt;
  return r;
}

bool divisible(int64_t a, int64_t b) { return b != 0 && !(a == INT64_MIN && b == -1); }

std::optional<int64_t> int_floor_div(int64_t a, int64_t b) {
  if (!divisible(a, b)) return std::nullopt;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

std::optional<int64_t> ceil_div(int64_t a, int64_t b) {
  if (!divisible(a, b)) return std::nullopt;
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

/// The sign follows the divisor, as in Python.
std::optional<int64_t> int_modulo(int64_t a, int64_t b) {
  if (!divisible(a, b)) return std::nullopt;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

std::optional<int64_t> exact_div(int64_t a, int64_t b) {
  if (!divisible(a, b) || a % b != 0) return std::nullopt;
  return a / b;
}

std::optional<int64_t> binary(int32_t op, int64_t a, int64_t b) {
  switch (op) {
    case TMETER_EXPR_POW:
      return int_power(a, b);
    case TMETER_EXPR_FLOORDIV:
      return int_floor_div(a, b);
    case TMETER_EXPR_CEILDIV:
      return ceil_div(a, b);
    case TMETER_EXPR_MOD:
      return int_modulo(a, b);
    case TMETER_EXPR_TRUEDIV:
      return exact_div(a, b);
    case TMETER_EXPR_EQ:
      return a == b;
    case TMETER_EXPR_NE:
      return a != b;
    case TMETER_EXPR_LT:
      return a < b;
    case TMETER_EXPR_LE:
      return a <= b;
    case TMETER_EXPR_GT:
      return a > b;
    case TMETER_EXPR_GE:
      return a >= b;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<int64_t> apply_operator(int32_t op, Operands v) {
  if (v.empty()) return std::nullopt;
  switch (op) {
    case TMETER_EXPR_ADD:
      return sum(v);
    case TMETER_EXPR_MUL:
      return product(v);
    case TMETER_EXPR_MAX:
      return *std::ranges::max_element(v);
    case TMETER_EXPR_MIN:
      return *std::ranges::min_element(v);
    case TMETER_EXPR_WHERE:
      return v.size() == 3 ? std::optional(v[0] ? v[1] : v[2]) : std::nullopt;
    default:
      return v.size() == 2 ? binary(op, v[0], v[1]) : std::nullopt;
  }
}

std::optional<Expr::Ratio> Expr::evaluate(std::span<const int64_t> values) const {
  // Operands precede their users: one pass in order, however often a node is shared. A branch
  // of WHERE that is not taken may fail to evaluate, hence values that are absent until needed.
  std::vector<std::optional<int64_t>> results(nodes_.size());
  std::vector<int64_t> operand_values;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& n = nodes_[i];
    if (n.op == kInteger) {
      results[i] = n.value;
    } else if (n.op == kSymbol) {
      results[i] = values[static_cast<size_t>(n.value)];
    } else if (n.op == TMETER_EXPR_WHERE) {
      const auto refs = operands(n);
      if (results[refs[0]]) results[i] = results[refs[*results[refs[0]] ? 1 : 2]];
    } else {
      operand_values.clear();
      for (const Ref r : operands(n))
        if (results[r]) operand_values.push_back(*results[r]);
      if (operand_values.size() == n.count) results[i] = apply_operator(n.op, operand_values);
    }
  }
  auto num = results[num_], den = results[den_];
  if (!num || !den || *den == 0 || *num == INT64_MIN || *den == INT64_MIN) return std::nullopt;
  if (*den < 0) num = -*num, den = -*den;
  const int64_t common = std::gcd(*num, *den);
  return Ratio{*num / common, *den / common};
}

}  // namespace pt2
