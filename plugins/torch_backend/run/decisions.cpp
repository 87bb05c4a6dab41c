#include "run/decisions.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tmeter::torch_backend {
namespace {

using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;
namespace prim = torch::jit::prim;

/// Operators that read one value out of a tensor.
constexpr std::array<std::string_view, 8> kReadings{
    "aten::item",           "aten::Int",         "aten::Float",         "aten::Bool",
    "aten::ScalarImplicit", "aten::IntImplicit", "aten::FloatImplicit", "aten::ComplexImplicit"};

/// Operators without any answer when values are missing.
constexpr std::array<std::string_view, 6> kAsking{"aten::equal",    "aten::is_nonzero",
                                                  "aten::allclose", "aten::bincount",
                                                  "prim::tolist",   "aten::repeat_interleave"};

/// What these answer does not depend on the value they are given.
constexpr std::array<std::string_view, 5> kBlind{"aten::len", "aten::__is__", "aten::__isnot__",
                                                 "prim::RaiseException", "aten::format"};

template <size_t N>
bool among(const std::array<std::string_view, N>& names, const Node& node) {
  const std::string_view op = node.kind().toQualString();
  return std::find(names.begin(), names.end(), op) != names.end();
}

bool reads_value(const Node& node) {
  return among(kReadings, node) && !node.inputs().empty() &&
         node.input(0)->type()->isSubtypeOf(*c10::TensorType::get());
}

torch::jit::Function* function_called(const Node& node) {
  if (node.kind() == prim::CallMethod) {
    const auto cls = node.input(0)->type()->cast<c10::ClassType>();
    return cls ? cls->findMethod(node.s(torch::jit::attr::name)) : nullptr;
  }
  if (node.kind() != prim::CallFunction) return nullptr;
  const auto type = node.input(0)->type()->cast<c10::FunctionType>();
  return type ? type->function() : nullptr;
}

template <class F>
void for_each_node(torch::jit::Block* block, const F& f) {
  for (auto* node : block->nodes()) {
    f(node);
    for (auto* inner : node->blocks()) for_each_node(inner, f);
  }
}

torch::jit::Graph* graph_of_function(torch::jit::Function* function) {
  auto* graph_function = function ? torch::jit::tryToGraphFunction(*function) : nullptr;
  return graph_function ? graph_function->graph().get() : nullptr;
}

class Decisions {
 public:
  explicit Decisions(const torch::jit::CompilationUnit& code) {
    for (auto* function : code.get_functions()) {
      auto* graph = graph_of_function(function);
      if (!graph) continue;
      graphs_.push_back(graph);
      for_each_node(graph->block(), [&](Node* node) {
        auto* callee = graph_of_function(function_called(*node));
        if (callee) callers_[callee].push_back(node);
      });
    }
  }

  /// True when there is anything that asks for values.
  bool mark(c10::Symbol symbol) {
    bool asks = false;
    std::vector<Node*> found;
    for (auto* graph : graphs_) {
      for_each_node(graph->block(), [&](Node* node) {
        seen_.clear();
        asks = asks || among(kAsking, *node);
        if (reads_value(*node) && decides(node->output())) found.push_back(node);
      });
    }
    for (auto* node : found) node->owningGraph()->create(symbol, {}, 0)->insertBefore(node);
    return asks || !found.empty();
  }

 private:
  bool decides(const Value* value) {
    if (!seen_.insert(value).second) return false;
    const auto& uses = value->uses();
    return std::any_of(uses.begin(), uses.end(), [&](const Use& use) { return decides(use); });
  }

  bool decides(const Use& use) {
    const auto* node = use.user;
    if (node->kind() == prim::If || node->kind() == prim::SetAttr) return true;
    if (node->kind() == prim::Loop) {
      return use.offset < 2 || decides(node->blocks()[0]->inputs()[use.offset - 1]) ||
             decides(node->outputs()[use.offset - 2]);
    }
    if (node->kind() == prim::Return) return at_end_of_block(use);
    if (const auto* callee = graph_of_function(function_called(*node))) {
      const auto i = use.offset - (node->kind() == prim::CallFunction ? 1 : 0);
      return i < callee->inputs().size() && decides(callee->inputs()[i]);
    }
    if (among(kBlind, *node)) return false;
    const bool appends = std::string_view(node->kind().toQualString()) == "aten::append";
    if (appends && use.offset == 1) return decides(node->input(0));
    for (const auto* output : node->outputs()) {
      const bool tensor = output->type()->isSubtypeOf(*c10::TensorType::get());
      if (!tensor && decides(output)) return true;
    }
    return false;
  }

  bool at_end_of_block(const Use& use) {
    const auto* block = use.user->owningBlock();
    const auto* owner = block->owningNode();
    if (!owner) {
      const auto& callers = callers_[block->owningGraph()];
      return std::any_of(callers.begin(), callers.end(), [&](const Node* call) {
        return !call->outputs().empty() && decides(call->output(0));
      });
    }
    if (owner->kind() != prim::Loop) {
      return use.offset < owner->outputs().size() && decides(owner->outputs()[use.offset]);
    }
    return use.offset == 0 || decides(block->inputs()[use.offset]) ||
           decides(owner->outputs()[use.offset - 1]);
  }

  std::vector<torch::jit::Graph*> graphs_;
  std::unordered_map<const torch::jit::Graph*, std::vector<const Node*>> callers_;
  std::unordered_set<const Value*> seen_;
};

c10::Symbol mark_symbol() {
  static const auto symbol = [] {
    static const torch::jit::RegisterOperators registration({torch::jit::Operator(
        "tmeter::decides() -> ()", [](torch::jit::Stack&) { next_value_decides() = true; },
        c10::AliasAnalysisKind::CONSERVATIVE)});
    return c10::Symbol::fromQualString("tmeter::decides");
  }();
  return symbol;
}

}  // namespace

bool mark_decisions(const torch::jit::CompilationUnit& code) {
  return Decisions(code).mark(mark_symbol());
}

bool& next_value_decides() {
  thread_local bool decides = false;
  return decides;
}

}  // namespace tmeter::torch_backend
