#include "torchscript/load/declarations.hpp"

#include <map>

#include "operators/messages.hpp"
#include "operators/operator_libraries.hpp"
#include "torchscript/load/foreign_calls.hpp"

namespace tmeter::torch_backend {
namespace {

/// Whether LibTorch has the name: as an operator, as a TorchScript function, or in its compiler.
bool known_to_libtorch(const std::string& op) {
  const auto symbol = c10::Symbol::fromQualString(op);
  return op.starts_with("prim::") || !torch::jit::getAllOperatorsFor(symbol).empty() ||
         !torch::jit::getAllBuiltinFunctionsFor(symbol).empty();
}

c10::FunctionSchema schema_of_calls(const std::string& op, const ForeignCall& call) {
  const auto any = [](const std::string& name, bool by_name) {
    // The default allows calls without the argument.
    return c10::Argument(name, c10::AnyType::get(), std::nullopt, c10::IValue(), by_name);
  };
  std::vector<c10::Argument> arguments, results;
  for (size_t i = 0; i < call.arguments; ++i)
    arguments.push_back(any("arg" + std::to_string(i), false));
  for (const auto& keyword : call.keywords) arguments.push_back(any(keyword, true));
  const c10::TypePtr result = call.list_length ? c10::TypePtr(c10::ListType::ofTensors())
                                               : c10::TypePtr(c10::TensorType::get());
  for (size_t i = 0; i < call.results; ++i) results.emplace_back("", result);
  return {op, "", std::move(arguments), std::move(results)};
}

}  // namespace

Declarations::Declarations(const Archive& archive, const Call& call) {
  std::map<std::string, bool> seen;
  const auto known = [&](const std::string& op) {
    const auto [it, fresh] = seen.try_emplace(op, false);
    if (fresh) it->second = known_to_libtorch(op);
    return it->second;
  };
  ForeignCalls calls;
  for (const auto& [name, entry] : archive.folder("code/")) {
    if (name.ends_with(".py")) find_foreign_calls(archive.read(entry), known, calls);
  }
  for (const auto& [op, written] : calls) {
    while_reading("code", [&] {
      const auto rule = find_rule(call, op);
      declare_operator(op, rule ? rule->schema : schema_of_calls(op, written));
      if (rule)
        rules_.emplace(op, *rule);
      else
        without_rule_[op] = written.list_length;
    });
    all_.insert(op);
  }
}

}  // namespace tmeter::torch_backend
