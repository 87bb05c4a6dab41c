#include "run/inference.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_set>

#include "load/names.hpp"

namespace tmeter::torch_backend {
namespace {

using torch::jit::Value;

constexpr size_t kMaxSeen = 1000;  // also bounds the recursion

/// Operators that hand their first argument on, in another shape.
constexpr std::array<const char*, 12> kPassing{
    "aten::view",    "aten::reshape", "aten::flatten",    "aten::unsqueeze",
    "aten::squeeze", "aten::slice",   "aten::contiguous", "aten::transpose",
    "aten::detach",  "aten::expand",  "aten::permute",    "aten::select"};

struct IndexUse {
  const char* op;
  size_t argument;
};
constexpr std::array<IndexUse, 4> kIndexUses{{{"aten::embedding", 1},
                                              {"aten::embedding_bag", 1},
                                              {"aten::one_hot", 0},
                                              {"aten::index_select", 2}}};

/// The callee's parameter that receives this use; null when the callee is unknown.
const Value* parameter_of(const torch::jit::Use& use) {
  torch::jit::Function* callee = nullptr;
  size_t offset = use.offset;
  if (use.user->kind() == torch::jit::prim::CallMethod) {
    const auto cls = use.user->input(0)->type()->cast<c10::ClassType>();
    callee = cls ? cls->findMethod(use.user->s(torch::jit::attr::name)) : nullptr;
  } else if (use.user->kind() == torch::jit::prim::CallFunction && offset > 0) {
    const auto type = use.user->input(0)->type()->cast<c10::FunctionType>();
    callee = type ? type->function() : nullptr;
    --offset;
  }
  const auto* function = callee ? torch::jit::tryToGraphFunction(*callee) : nullptr;
  if (!function) return nullptr;
  const auto inputs = function->graph()->inputs();
  return offset < inputs.size() ? inputs[offset] : nullptr;
}

bool indexes(const torch::jit::Use& use) {
  const std::string_view op = use.user->kind().toQualString();
  return std::any_of(kIndexUses.begin(), kIndexUses.end(),
                     [&](const IndexUse& u) { return op == u.op && use.offset == u.argument; });
}

bool passes_on(const torch::jit::Use& use) {
  const std::string_view op = use.user->kind().toQualString();
  return use.offset == 0 && use.user->outputs().size() == 1 &&
         std::find(kPassing.begin(), kPassing.end(), op) != kPassing.end();
}

/// The value of a condition that this use, at the end of one of its branches, becomes.
const Value* branch_result(const torch::jit::Use& use) {
  if (use.user->kind() != torch::jit::prim::Return) return nullptr;
  const auto* owner = use.user->owningBlock()->owningNode();
  return owner && owner->kind() == torch::jit::prim::If ? owner->outputs()[use.offset] : nullptr;
}

const Value* follow(const torch::jit::Use& use) {
  if (passes_on(use)) return use.user->output();
  const auto* result = branch_result(use);
  return result ? result : parameter_of(use);
}

bool reaches_indices(const Value* value, std::unordered_set<const Value*>& seen) {
  if (seen.size() > kMaxSeen || !seen.insert(value).second) return false;
  for (const auto& use : value->uses()) {
    if (indexes(use)) return true;
    const Value* next = follow(use);
    if (next && reaches_indices(next, seen)) return true;
  }
  return false;
}

/// A module's weight tells what it wants: [out, in, kernel…] of a convolution, [out, in] of a
/// linear layer, [words, width] of an embedding, weight_ih_l0 [gates, in] of a recurrent layer.
struct Guess {
  std::string_view weight;                 // name of the parameter
  int64_t rank;                            // of the parameter
  std::vector<std::vector<int64_t>> dims;  // 0 stands for the weight's second dim
};
const std::vector<Guess>& guesses() {
  static const std::vector<Guess> list{
      {"weight", 3, {{1, 0, 1024}, {1, 0, 16000}}},
      {"weight", 4, {{1, 0, 224, 224}, {1, 0, 299, 299}, {1, 0, 32, 32}, {1, 0, 28, 28}}},
      {"weight", 5, {{1, 0, 16, 112, 112}, {1, 0, 16, 224, 224}, {1, 0, 16, 16, 16}}},
      {"weight", 2, {{1, 0}, {1, 16, 0}}},
      {"weight_ih_l0", 2, {{16, 1, 0}, {16, 0}}},
  };
  return list;
}

std::vector<at::Tensor> inputs_for(const at::Tensor& weight, const Guess& guess) {
  std::vector<at::Tensor> out;
  for (auto dims : guess.dims) {
    std::replace(dims.begin(), dims.end(), int64_t{0}, weight.size(1));
    out.push_back(at::empty(dims, at::dtype(weight.scalar_type()).device(at::kMeta)));
  }
  return out;
}

}  // namespace

bool used_as_indices(const Value* value) {
  std::unordered_set<const Value*> seen;
  return reaches_indices(value, seen);
}

at::ScalarType float_type_of(const torch::jit::Module& root) {
  for (const at::Tensor& p : root.parameters()) {
    if (at::isFloatingType(p.scalar_type())) return p.scalar_type();
  }
  return at::kFloat;
}

std::vector<at::Tensor> likely_inputs(const torch::jit::Module& root) {
  for (const auto& parameter : root.named_parameters()) {
    const auto name = last_part(parameter.name);
    for (const auto& guess : guesses()) {
      if (name == guess.weight && parameter.value.dim() == guess.rank) {
        return inputs_for(parameter.value, guess);
      }
    }
  }
  return {};
}

}  // namespace tmeter::torch_backend
