#include "operators/size_arithmetic.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tmeter::torch_backend {
namespace {

using c10::IValue;
using SizeOperands = std::vector<IValue>;

bool whole(const SizeOperands& x) {
  return std::all_of(x.begin(), x.end(), [](const IValue& v) { return !v.isDouble(); });
}
int64_t integer(const IValue& v) { return v.toScalar().toLong(); }
double real(const IValue& v) { return v.toScalar().toDouble(); }

int64_t checked(bool overflow, int64_t value) {
  if (overflow) throw std::runtime_error("gives a size beyond 63 bits");
  return value;
}

template <class Ints, class Reals>
IValue arithmetic(const SizeOperands& x, const Ints& ints, const Reals& reals) {
  if (whole(x)) return IValue(ints(integer(x[0]), integer(x[1])));
  return IValue(reals(real(x[0]), real(x[1])));
}

void check_divisor(const IValue& v) {
  if (real(v) == 0) throw std::runtime_error("divides by zero");
}

int64_t floor_div(int64_t a, int64_t b) {
  if (b == -1) return checked(a == INT64_MIN, -a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
int64_t floor_mod(int64_t a, int64_t b) { return b == -1 ? 0 : a - floor_div(a, b) * b; }

IValue add(const SizeOperands& x) {
  return arithmetic(
      x,
      [](int64_t a, int64_t b) {
        int64_t out = 0;
        const bool over = __builtin_add_overflow(a, b, &out);
        return checked(over, out);
      },
      std::plus<>());
}
IValue sub(const SizeOperands& x) {
  return arithmetic(
      x,
      [](int64_t a, int64_t b) {
        int64_t out = 0;
        const bool over = __builtin_sub_overflow(a, b, &out);
        return checked(over, out);
      },
      std::minus<>());
}
IValue mul(const SizeOperands& x) {
  return arithmetic(
      x,
      [](int64_t a, int64_t b) {
        int64_t out = 0;
        const bool over = __builtin_mul_overflow(a, b, &out);
        return checked(over, out);
      },
      std::multiplies<>());
}
IValue floordiv(const SizeOperands& x) {
  check_divisor(x[1]);
  return arithmetic(x, floor_div, [](double a, double b) { return std::floor(a / b); });
}
IValue mod(const SizeOperands& x) {
  check_divisor(x[1]);
  return arithmetic(x, floor_mod, [](double a, double b) { return a - std::floor(a / b) * b; });
}
IValue truediv(const SizeOperands& x) {
  check_divisor(x[1]);
  return real(x[0]) / real(x[1]);
}
IValue power(const SizeOperands& x) {
  const double out = std::pow(real(x[0]), real(x[1]));
  if (!whole(x) || integer(x[1]) < 0) return out;
  return checked(!(std::abs(out) < 9e15), static_cast<int64_t>(out));
}
IValue neg(const SizeOperands& x) { return sub({IValue(int64_t{0}), x[0]}); }
IValue eq(const SizeOperands& x) { return real(x[0]) == real(x[1]); }
IValue ne(const SizeOperands& x) { return real(x[0]) != real(x[1]); }
IValue lt(const SizeOperands& x) { return real(x[0]) < real(x[1]); }
IValue le(const SizeOperands& x) { return real(x[0]) <= real(x[1]); }
IValue gt(const SizeOperands& x) { return real(x[0]) > real(x[1]); }
IValue ge(const SizeOperands& x) { return real(x[0]) >= real(x[1]); }
IValue both(const SizeOperands& x) { return integer(x[0]) && integer(x[1]); }
IValue either(const SizeOperands& x) { return integer(x[0]) || integer(x[1]); }
IValue invert(const SizeOperands& x) { return !integer(x[0]); }
IValue floor_of(const SizeOperands& x) { return static_cast<int64_t>(std::floor(real(x[0]))); }
IValue ceil_of(const SizeOperands& x) { return static_cast<int64_t>(std::ceil(real(x[0]))); }
IValue trunc_of(const SizeOperands& x) { return static_cast<int64_t>(std::trunc(real(x[0]))); }
IValue largest(const SizeOperands& x) { return real(x[0]) < real(x[1]) ? x[1] : x[0]; }
IValue smallest(const SizeOperands& x) { return real(x[1]) < real(x[0]) ? x[1] : x[0]; }
IValue to_real(const SizeOperands& x) { return real(x[0]); }
IValue choice(const SizeOperands& x) { return integer(x[0]) ? x[1] : x[2]; }

struct ArithmeticRow {
  std::string_view op;
  size_t operands;
  IValue (*compute)(const SizeOperands&);
};
constexpr std::array<ArithmeticRow, 29> kArithmetic{{
    {"_operator::add", 2, add},         {"_operator::sub", 2, sub},
    {"_operator::mul", 2, mul},         {"_operator::floordiv", 2, floordiv},
    {"_operator::mod", 2, mod},         {"_operator::truediv", 2, truediv},
    {"_operator::pow", 2, power},       {"_operator::neg", 1, neg},
    {"_operator::eq", 2, eq},           {"_operator::ne", 2, ne},
    {"_operator::lt", 2, lt},           {"_operator::le", 2, le},
    {"_operator::gt", 2, gt},           {"_operator::ge", 2, ge},
    {"_operator::and_", 2, both},       {"_operator::or_", 2, either},
    {"_operator::not_", 1, invert},     {"math::floor", 1, floor_of},
    {"math::ceil", 1, ceil_of},         {"math::trunc", 1, trunc_of},
    {"torch::sym_max", 2, largest},     {"torch::sym_min", 2, smallest},
    {"torch::sym_float", 1, to_real},   {"torch::sym_int", 1, trunc_of},
    {"torch::sym_not", 1, invert},      {"torch::sym_ite", 3, choice},
    {"torch::_sym_floor", 1, floor_of}, {"torch::_sym_ceil", 1, ceil_of},
    {"torch::_sym_trunc", 1, trunc_of},
}};

/// Sizes of a tensor: aten::sym_size.int(self, dim), aten::sym_numel(self).
std::optional<IValue> size_of(const Node& node, Environment& env) {
  if (node.op() == "aten::sym_numel") return IValue(env.tensor(node.arg(size_t{0})).numel());
  if (node.op() != "aten::sym_size" || node.arg_count() != 2) return std::nullopt;
  return IValue(env.tensor(node.arg(size_t{0})).size(integer(number(node.arg(1), env))));
}

const ArithmeticRow* row_of(std::string_view op, size_t operands) {
  for (const auto& row : kArithmetic) {
    if (row.op == op && row.operands == operands) return &row;
  }
  return nullptr;
}

IValue numel_of_tensor(const SizeOperands& x) { return x[0].toTensor().numel(); }
IValue size_of_tensor(const SizeOperands& x) { return x[0].toTensor().size(integer(x[1])); }

}  // namespace

std::optional<IValue> size_arithmetic(const Node& node, Environment& env) {
  if (auto size = size_of(node, env)) return size;
  const auto* row = row_of(node.op(), node.arg_count());
  if (!row) return std::nullopt;
  SizeOperands operands;
  for (size_t i = 0; i < row->operands; ++i) operands.push_back(number(node.arg(i), env));
  return row->compute(operands);
}

SizeFunction arithmetic_on_sizes(std::string_view op, size_t operands) {
  if (op == "aten::sym_numel" && operands == 1) return numel_of_tensor;
  if (op == "aten::sym_size" && operands == 2) return size_of_tensor;
  const auto* row = row_of(op, operands);
  return row ? row->compute : nullptr;
}

bool is_assertion(std::string_view op) {
  return op.starts_with("aten::_assert") || op.starts_with("aten::sym_constrain_range") ||
         op == "aten::_check" || op == "aten::_functional_assert_async";
}

}  // namespace tmeter::torch_backend
