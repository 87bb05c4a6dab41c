#include "torchscript/primitives/guards.hpp"

#include <algorithm>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "operators/limits.hpp"

namespace tmeter::torch_backend {
namespace {

constexpr uint64_t kMaxReplaceWork = 1 << 30;  // bytes moved; each occurrence moves the rest
constexpr uint64_t kMaxTensorItems = 1 << 18;  // the limit of tensors with values
constexpr int64_t kMaxFactorial = 20;          // 21! needs more than 64 bits
constexpr int kMaxGuardDepth = 200;

void spend(uint64_t units) {
  if (auto* limits = Limits::current()) limits->spend(units);
}

[[noreturn]] void too_large(const char* what, const char* items, uint64_t size, uint64_t limit) {
  const Error error(TMETER_CANNOT_RUN, std::string("the model makes a ") + what + " of " +
                                           std::to_string(size) + " " + items + "; at most " +
                                           std::to_string(limit) + " are allowed");
  if (auto* limits = Limits::current()) limits->stop(error);
  throw error;
}

void allow_text(uint64_t size) {
  if (size > kMaxText) too_large("string", "bytes", size, kMaxText);
  spend(size / 16);
}

void allow_list(uint64_t size) {
  if (size > kMaxItems) too_large("list", "items", size, kMaxItems);
  spend(size);
}

uint64_t text_size(const c10::IValue& v) { return v.isString() ? v.toStringRef().size() : 0; }
uint64_t list_size(const c10::IValue& v) { return v.isList() ? v.toListRef().size() : 0; }

/// Adds the number of values in `v` and the bytes of its strings; shared values count each time
/// they occur. Stops above `limit`.
void add_extent(const c10::IValue& v, uint64_t limit, int depth, uint64_t& sum) {
  if (sum > limit) return;
  if (depth > kMaxGuardDepth) sum = limit;
  sum += 1 + text_size(v);
  if (v.isTensor() && v.toTensor().defined() && !v.toTensor().is_meta()) {
    sum += static_cast<uint64_t>(v.toTensor().numel());
  } else if (v.isTuple()) {
    for (const auto& item : v.toTupleRef().elements()) add_extent(item, limit, depth + 1, sum);
  } else if (v.isIntList() || v.isDoubleList() || v.isBoolList() || v.isTensorList()) {
    sum += list_size(v);
  } else if (v.isList()) {
    for (const c10::IValue& item : v.toListRef()) add_extent(item, limit, depth + 1, sum);
  } else if (v.isGenericDict()) {
    for (const auto& entry : v.toGenericDict()) {
      add_extent(entry.key(), limit, depth + 1, sum);
      add_extent(entry.value(), limit, depth + 1, sum);
    }
  }
}

uint64_t extent(Operands operands, uint64_t limit) {
  uint64_t sum = 0;
  for (const auto& v : operands) add_extent(v, limit, 0, sum);
  spend(std::min(sum, limit));
  return sum;
}

}  // namespace

void check_division(Operands operands) {
  const auto& a = operands[0];
  const auto& b = operands[1];
  if (!a.isInt() || !b.isInt()) return;
  if (b.toInt() == 0) throw std::runtime_error("division by zero");
  if (a.toInt() == std::numeric_limits<int64_t>::min() && b.toInt() == -1)
    throw std::runtime_error("division of the smallest integer by -1, which has no result");
}

void check_factorial(Operands operands) {
  if (operands[0].isInt() && operands[0].toInt() > kMaxFactorial)
    throw std::runtime_error("factorial of more than " + std::to_string(kMaxFactorial));
}

void check_text_sum(Operands operands) {
  allow_text(text_size(operands[0]) + text_size(operands[1]));
}

void check_join(Operands operands) {
  uint64_t size = 0;
  if (!operands[1].isList()) return;
  for (const c10::IValue& text : operands[1].toListRef())
    size += text_size(operands[0]) + text_size(text);
  allow_text(size);
}

void check_replace(Operands operands) {
  check_needle(operands);
  const auto size = text_size(operands[0]), old = text_size(operands[1]);
  if (old == 0) return;
  const auto most = size / old * std::max(old, text_size(operands[2])) + old;
  const auto work = size / old * most;
  if (work > kMaxReplaceWork) too_large("replacement", "bytes", work, kMaxReplaceWork);
  allow_text(most);
  spend(work / 16);
}

void check_needle(Operands operands) {
  if (operands[1].isString() && operands[1].toStringRef().empty())
    throw std::runtime_error("empty string to search for");
  spend(text_size(operands[0]));
}

void check_width(Operands operands) {
  const auto width = operands[1].isInt() ? operands[1].toInt() : 0;
  allow_text(text_size(operands[0]) + static_cast<uint64_t>(std::max<int64_t>(width, 0)));
}

void check_tabs(Operands operands) {
  const auto width = operands[1].isInt() ? operands[1].toInt() : 0;
  const auto each = std::clamp<int64_t>(width, 1, kMaxText + 1);
  allow_text(text_size(operands[0]) * static_cast<uint64_t>(each));
}

void check_printed(Operands operands) { allow_text(extent(operands, kMaxText)); }

void check_list_sum(Operands operands) {
  allow_list(list_size(operands[0]) + list_size(operands[1]));
}

void check_list_product(Operands operands) {
  const bool list_first = operands[0].isList();
  const auto size = list_size(operands[list_first ? 0 : 1]);
  const auto& count = operands[list_first ? 1 : 0];
  const auto times = count.isInt() ? std::max<int64_t>(count.toInt(), 0) : 0;
  uint64_t product = 0;
  if (__builtin_mul_overflow(size, static_cast<uint64_t>(times), &product)) product = UINT64_MAX;
  allow_list(product);
}

void check_one_more(Operands operands) {
  const auto size = list_size(operands[0]) + 1;
  if (size > kMaxItems) too_large("list", "items", size, kMaxItems);
  spend(10);
}

void check_range(Operands operands) {
  const auto count = operands[0].isInt() ? std::max<int64_t>(operands[0].toInt(), 0) : 0;
  allow_list(static_cast<uint64_t>(count));
}

void check_tensor_of(Operands operands) {
  const auto size = extent(operands.slice(0, 1), kMaxTensorItems);
  if (size > kMaxTensorItems) too_large("tensor of a list", "numbers", size, kMaxTensorItems);
}

namespace {

using torch::jit::Operator;
using torch::jit::Stack;

struct Guard {
  std::string_view op;
  Check check;
  std::string_view overloads = {};  // the overload that is checked; empty: all
};

constexpr Guard kGuards[] = {
    {"aten::floordiv", check_division},
    {"aten::remainder", check_division},
    {"aten::fmod", check_division},
    {"aten::divmod", check_division},
    {"aten::mathremainder", check_division},
    {"aten::__round_to_zero_floordiv", check_division},
    {"aten::gcd", check_division},
    {"aten::factorial", check_factorial},
    {"aten::add", check_text_sum, "str"},
    {"aten::add", check_list_sum, "t"},
    {"aten::add_", check_list_sum, "t"},
    {"aten::extend", check_list_sum},
    {"aten::mul", check_list_product, "left_t"},
    {"aten::mul", check_list_product, "right_"},
    {"aten::mul_", check_list_product, "t"},
    {"aten::append", check_one_more},
    {"aten::insert", check_one_more},
    {"aten::join", check_join},
    {"aten::replace", check_replace},
    {"aten::count", check_needle},
    {"aten::split", check_needle, "str"},
    {"aten::rsplit", check_needle},
    {"aten::partition", check_needle},
    {"aten::rpartition", check_needle},
    {"aten::center", check_width},
    {"aten::ljust", check_width},
    {"aten::rjust", check_width},
    {"aten::zfill", check_width},
    {"aten::expandtabs", check_tabs},
    {"aten::str", check_printed},
    {"aten::format", check_printed},
    {"aten::percentFormat", check_printed},
    {"aten::warn", check_printed},
    {"prim::Print", check_printed},
    {"prim::rangelist", check_range},
    {"aten::tensor", check_tensor_of},
    {"aten::as_tensor", check_tensor_of},
    {"aten::_list_to_tensor", check_tensor_of},
};

bool& trusts() {
  thread_local bool trusted = false;
  return trusted;
}

Check check_for(const c10::FunctionSchema& schema) {
  for (const auto& g : kGuards) {
    if (g.op == schema.name() && (g.overloads.empty() || schema.overload_name() == g.overloads)) {
      return g.check;
    }
  }
  return nullptr;
}

/// The operands on top of the stack; for a variable number, the count is above them.
Operands operands_of(const Stack& stack, const c10::FunctionSchema& schema) {
  size_t count = schema.arguments().size(), above = 0;
  if (schema.is_vararg()) {
    above = 1;
    count = static_cast<size_t>(stack.back().toInt());
  }
  return Operands(stack.data() + (stack.size() - above - count), count);
}

torch::jit::Operation checked(const Operator& op, Check check) {
  // The schema is copied because its operator leaves the registry.
  return [inner = op.getOperation(), schema = op.schema(), check](Stack& stack) mutable {
    check(operands_of(stack, schema));
    inner(stack);
  };
}

torch::jit::Operation refusing(const Operator& op) {
  return [inner = op.getOperation(), name = op.schema().name()](Stack& stack) mutable {
    if (trusts()) return inner(stack);
    throw std::runtime_error("the operator " + name +
                             " is not among those that tmeter runs for a model file");
  };
}

/// The guarded operator; empty if it needs no guard.
std::optional<Operator> replacement(const Operator& op) {
  if (op.isC10Op() || !op.hasOperation()) return std::nullopt;
  const auto& schema = op.schema();
  const auto check = check_for(schema);
  if (!check && refusal(schema, OperatorKind::kPrimitive).empty()) return std::nullopt;
  auto operation = check ? checked(op, check) : refusing(op);
  if (schema.is_vararg()) {  // only the constructor from text takes these
    return Operator(c10::toString(schema), std::move(operation), schema.aliasAnalysis());
  }
  return Operator(schema.name(), schema.overload_name(), schema.arguments(), schema.returns(),
                  std::move(operation), schema.aliasAnalysis());
}

/// Registers all overloads again to keep the order in which LibTorch tries them.
void replace_overloads(const std::vector<std::shared_ptr<Operator>>& overloads) {
  std::vector<Operator> now;
  for (const auto& op : overloads) {
    auto changed = replacement(*op);
    now.push_back(changed ? std::move(*changed) : *op);
  }
  for (const auto& op : overloads) torch::jit::deregisterOperator(op->schema());
  for (auto& op : now) torch::jit::registerOperator(std::move(op));
}

/// Names with an overload that needs a guard.
std::set<std::string> names_to_guard() {
  std::set<std::string> names;
  for (const auto& op : torch::jit::getAllOperators()) {
    if (replacement(*op)) names.insert(op->schema().name());
  }
  return names;
}

}  // namespace

TrustPrimitives::TrustPrimitives(bool trusted) : before_(std::exchange(trusts(), trusted)) {}
TrustPrimitives::~TrustPrimitives() { trusts() = before_; }

void guard_primitives() {
  static const bool done = [] {
    // LibTorch's own code may point at the original operators, so they are never destroyed.
    static auto* const before = new std::list<std::vector<std::shared_ptr<Operator>>>();
    for (const auto& name : names_to_guard()) {
      replace_overloads(
          before->emplace_back(torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name))));
    }
    return true;
  }();
  (void)done;
}

}  // namespace tmeter::torch_backend
