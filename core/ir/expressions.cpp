#include "core/ir/expressions.hpp"

#include <tmeter/abi/builder.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/checked.hpp"
#include "core/base/error.hpp"
#include "core/ir/limits.hpp"

namespace tmeter::core {
namespace {

constexpr int32_t kInteger = 0, kSymbol = -1, kText = -2;
using Maybe = std::optional<int64_t>;

int64_t floor_div(int64_t a, int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

Maybe power(int64_t base, int64_t exponent) {
  if (exponent < 0) return std::nullopt;
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  Maybe r = 1;
  for (int64_t i = 0; i < exponent && r; ++i) r = checked_mul(*r, base);
  return r;
}

Maybe divide(int32_t op, int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  switch (op) {
    case TMETER_EXPR_FLOORDIV:
      return floor_div(a, b);
    case TMETER_EXPR_CEILDIV:
      return -floor_div(-a, b);
    case TMETER_EXPR_MOD:
      return a - floor_div(a, b) * b;
    default:
      return a % b == 0 ? Maybe(a / b) : std::nullopt;
  }
}

Maybe apply(int32_t op, int64_t a, int64_t b) {
  switch (op) {
    case TMETER_EXPR_ADD:
      return checked_add(a, b);
    case TMETER_EXPR_MUL:
      return checked_mul(a, b);
    case TMETER_EXPR_POW:
      return power(a, b);
    case TMETER_EXPR_MAX:
      return std::max(a, b);
    case TMETER_EXPR_MIN:
      return std::min(a, b);
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
      return divide(op, a, b);
  }
}

struct OperatorInfo {
  const char* name;
  size_t min_operands, max_operands;
  bool infix;
};

/// Indexed by TMETER_EXPR_….
constexpr std::array<OperatorInfo, 17> kOperators{{{"", 0, 0, false},
                                                   {"+", 1, 1000, true},
                                                   {"*", 1, 1000, true},
                                                   {"**", 2, 2, true},
                                                   {"//", 2, 2, true},
                                                   {"%", 2, 2, true},
                                                   {"max", 1, 1000, false},
                                                   {"min", 1, 1000, false},
                                                   {"ceil", 2, 2, false},
                                                   {"/", 2, 2, true},
                                                   {"==", 2, 2, true},
                                                   {"!=", 2, 2, true},
                                                   {"<", 2, 2, true},
                                                   {"<=", 2, 2, true},
                                                   {">", 2, 2, true},
                                                   {">=", 2, 2, true},
                                                   {"where", 3, 3, false}}};

}  // namespace

ExprId Expressions::push(Item item) {
  if (items_.size() >= limits::kExpressions) {
    throw Error(ErrorKind::kModel, "the model has more shape expressions than tmeter accepts");
  }
  items_.push_back(item);
  return static_cast<ExprId>(items_.size());
}

ExprId Expressions::add_int(int64_t value) { return push({kInteger, value, 0, 0}); }

ExprId Expressions::add_symbol(size_t symbol) {
  return push({kSymbol, static_cast<int64_t>(symbol), 0, 0});
}

ExprId Expressions::add_text(std::string text, int64_t value) {
  fixed_texts_.push_back(std::move(text));
  return push({kText, value, static_cast<uint32_t>(fixed_texts_.size() - 1), 0});
}

ExprId Expressions::add(int32_t op, const std::vector<ExprId>& operands) {
  if (op < 1 || op >= static_cast<int32_t>(kOperators.size())) {
    throw Error(ErrorKind::kModel, "unknown operator in a shape expression");
  }
  const auto& info = kOperators[static_cast<size_t>(op)];
  if (operands.size() < info.min_operands || operands.size() > info.max_operands) {
    throw Error(ErrorKind::kModel, std::string("wrong number of operands of '") + info.name +
                                       "' in a shape expression");
  }
  for (const auto id : operands) {
    if (!contains(id))
      throw Error(ErrorKind::kModel, "a shape expression refers to one that does not exist");
  }
  const Item item{op, 0, static_cast<uint32_t>(operands_.size()),
                  static_cast<uint32_t>(operands.size())};
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  return push(item);
}

std::optional<size_t> Expressions::symbol_of(ExprId id) const {
  if (!contains(id) || items_[id - 1].op != kSymbol) return std::nullopt;
  return static_cast<size_t>(items_[id - 1].value);
}

std::vector<size_t> Expressions::symbols_in(ExprId id) const {
  std::vector<bool> is_needed(id);
  std::vector<size_t> out;
  is_needed[id - 1] = true;
  for (size_t i = id; i-- > 0;) {  // operands come first
    const auto& item = items_[i];
    if (!is_needed[i]) continue;
    if (item.op == kSymbol) out.push_back(static_cast<size_t>(item.value));
    for (const auto operand : operands(item)) is_needed[operand - 1] = true;
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool Expressions::is_divisibility(ExprId id) const {
  const auto& item = items_[id - 1];
  if (item.op != TMETER_EXPR_EQ) return false;
  const auto sides = operands(item);
  const auto& right = items_[sides[1] - 1];
  return items_[sides[0] - 1].op == TMETER_EXPR_MOD && right.op == kInteger && right.value == 0;
}

int64_t Expressions::value(ExprId id) const {
  if (const auto found = values_[id - 1]) return *found;
  // The innermost expression without a value has the reason.
  for (bool is_innermost = false; !is_innermost;) {
    is_innermost = true;
    for (const auto operand : operands(items_[id - 1])) {
      if (values_[operand - 1]) continue;
      id = operand;
      is_innermost = false;
      break;
    }
  }
  throw Error(ErrorKind::kModel,
              "the shape expression " + text(id) +
                  " has no 64-bit integer value for these sizes; bind other sizes with --bind");
}

Maybe Expressions::evaluate(const Item& item, const std::vector<Symbol>& symbols) const {
  if (item.op == kInteger || item.op == kText) return item.value;
  if (item.op == kSymbol) return symbols[static_cast<size_t>(item.value)].value;
  const auto operand = operands(item);
  Maybe result = find_value(operand[0]);
  if (item.op == TMETER_EXPR_WHERE)
    return result ? find_value(operand[*result ? 1 : 2]) : std::nullopt;
  for (size_t i = 1; i < operand.size() && result; ++i) {
    const auto next = find_value(operand[i]);
    result = next ? apply(item.op, *result, *next) : std::nullopt;
  }
  return result;
}

void Expressions::evaluate(const std::vector<Symbol>& symbols) {
  if (texts_.size() != items_.size()) render(symbols);
  values_.clear();
  values_.reserve(items_.size());
  for (const auto& item : items_) values_.push_back(evaluate(item, symbols));
}

std::string Expressions::render(const Item& item, const std::vector<Symbol>& symbols) const {
  if (item.op == kInteger) return std::to_string(item.value);
  if (item.op == kText) return fixed_texts_[item.first];
  if (item.op == kSymbol) return std::string(symbols[static_cast<size_t>(item.value)].name);
  const auto& info = kOperators[static_cast<size_t>(item.op)];
  std::string out = info.infix ? "" : std::string(info.name) + "(";
  for (uint32_t i = 0; i < item.n && out.size() < limits::kExpressionText; ++i) {
    const auto id = operands_[item.first + i];
    const bool nested = info.infix && items_[id - 1].op > 0 &&
                        kOperators[static_cast<size_t>(items_[id - 1].op)].infix;
    if (i) out += info.infix ? info.name : ", ";
    out += nested ? "(" + text(id) + ")" : text(id);
  }
  if (!info.infix) out += ")";
  if (out.size() > limits::kExpressionText) {
    out.resize(limits::kExpressionText);
    out += "…";
  }
  return out;
}

void Expressions::render(const std::vector<Symbol>& symbols) {
  texts_.clear();
  texts_.reserve(items_.size());
  for (const auto& item : items_) texts_.push_back(render(item, symbols));
}

}  // namespace tmeter::core
