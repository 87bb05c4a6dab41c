#include "torchscript/primitives/guards.hpp"

#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "torchscript/primitives/operand_checks.hpp"

namespace tmeter::torch_backend {
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

/// The operands on top of the stack; for a variable number, the count lies above them.
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

/// The guarded operator; nothing if it needs no guard.
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
