#include "torchscript/load/foreign_operators.hpp"

#include <map>

#include "operators/messages.hpp"
#include "operators/missing_operators.hpp"
#include "torchscript/load/foreign_calls.hpp"

namespace tmeter::torch_backend {
namespace {

/// Whether the name is an operator of LibTorch, a TorchScript function, or built into its compiler.
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
  const auto is_known = [&](const std::string& op) {
    const auto [it, fresh] = seen.try_emplace(op, false);
    if (fresh) it->second = known_to_libtorch(op);
    return it->second;
  };
  ForeignCalls calls;
  for (const auto& [name, entry] : archive.folder("code/")) {
    if (name.ends_with(".py")) find_foreign_calls(archive.read(entry), is_known, calls);
  }
  for (const auto& [op, written] : calls) {
    translate_load_errors("code", [&] {
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

namespace {

constexpr size_t kMaxPlans = 64;

using Sizes = std::vector<int64_t>;

/// The result of a call with these tensors; nullopt if the guess is impossible for them.
using Guess = std::optional<Sizes> (*)(const std::vector<at::Tensor>& tensors);

std::optional<Sizes> as_first(const std::vector<at::Tensor>& tensors) {
  return tensors[0].sizes().vec();
}

/// The first tensor multiplied by each matrix in turn; dim `dim` of a matrix is its input size.
template <int64_t dim>
std::optional<Sizes> as_product(const std::vector<at::Tensor>& tensors) {
  auto out = tensors[0].sizes().vec();
  bool any = false;
  for (size_t i = 1; i < tensors.size() && !out.empty(); ++i) {
    if (tensors[i].dim() != 2 || tensors[i].size(dim) != out.back()) continue;
    out.back() = tensors[i].size(1 - dim);
    any = true;
  }
  return any ? std::optional(out) : std::nullopt;
}

std::optional<Sizes> without_last(const std::vector<at::Tensor>& tensors) {
  auto out = tensors[0].sizes().vec();
  if (out.empty()) return std::nullopt;
  out.pop_back();
  return out;
}

std::optional<Sizes> half_last(const std::vector<at::Tensor>& tensors) {
  auto out = tensors[0].sizes().vec();
  if (out.empty() || out.back() % 2) return std::nullopt;
  out.back() /= 2;
  return out;
}

struct NamedGuess {
  Guess guess;
  const char* description;
};
constexpr std::array<NamedGuess, 5> kGuesses{{
    {as_first, "the shape of its first tensor"},
    {as_product<1>, "the shape of a linear layer's result"},
    {as_product<0>, "the shape of a matrix product's result"},
    {half_last, "the shape of its first tensor with half the last dim"},
    {without_last, "the shape of its first tensor without the last dim"},
}};

}  // namespace

ForeignOperators::ForeignOperators(const Declarations& declared, const Call& call)
    : declared_(declared), call_(call) {
  for (const auto& [op, length] : declared.without_rule()) guess_[op] = 0;
}

size_t ForeignOperators::plans() const {
  size_t n = 1;
  for (size_t i = 0; i < guess_.size() && n < kMaxPlans; ++i) n *= kGuesses.size();
  return std::min(n, kMaxPlans);
}

void ForeignOperators::use_plan(size_t i) {
  for (auto& [op, guess] : guess_) {
    guess = i % kGuesses.size();
    i /= kGuesses.size();
  }
}

std::string ForeignOperators::guessed() const {
  std::string out;
  for (const auto& [op, guess] : guess_) out += (out.empty() ? "" : ", ") + op;
  return out;
}

void ForeignOperators::note(const OperatorInfo& info) {
  const auto it = guess_.find(info.name);
  if (it == guess_.end() || !noted_.insert(info.name).second) return;
  call_.warn(info.name +
             " belongs to a library that is not loaded, and no plugin has a shape rule for " +
             "it: its result is assumed to have " + kGuesses[it->second].description);
}

void ForeignOperators::execute(const c10::OperatorHandle& op, const OperatorInfo& info,
                               torch::jit::Stack& args) {
  if (const auto* rule = declared_.rule(info.name)) {
    args = results_by_rule(call_, info.full_name(), *rule, args);
    require_types(info.full_name(), *rule, args);
    return;
  }
  std::vector<at::Tensor> tensors;
  for (const auto& a : args) {
    for_each_tensor(a, [&](const at::Tensor& t) { tensors.push_back(t); });
  }
  const auto& guess = kGuesses[guess_.at(info.name)];
  const auto sizes = tensors.empty() ? std::nullopt : guess.guess(tensors);
  TORCH_CHECK(sizes, "no plugin has a shape rule for it, and its result cannot have ",
              guess.description);
  const auto result = at::empty(*sizes, tensors[0].options().device(at::kMeta));
  args.clear();
  for (const auto& r : op.schema().returns()) {
    if (r.type()->kind() == c10::TypeKind::ListType)
      args.emplace_back(
          std::vector<at::Tensor>(declared_.without_rule().find(info.name)->second, result));
    else
      args.emplace_back(args.empty() ? result : at::empty_like(result));
  }
}

}  // namespace tmeter::torch_backend
