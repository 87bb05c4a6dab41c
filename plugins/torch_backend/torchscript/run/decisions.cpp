#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "operators/evaluator.hpp"
#include "torchscript/run/interpreter.hpp"

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

/// Operators that have no result without values.
constexpr std::array<std::string_view, 6> kNeedValues{"aten::equal",    "aten::is_nonzero",
                                                      "aten::allclose", "aten::bincount",
                                                      "prim::tolist",   "aten::repeat_interleave"};

/// The results of these operators do not depend on the value.
constexpr std::array<std::string_view, 5> kIgnoreValue{
    "aten::len", "aten::__is__", "aten::__isnot__", "prim::RaiseException", "aten::format"};

/// Operators that query the device of a tensor. Here tensors have none.
constexpr std::array<std::string_view, 5> kDevices{"prim::device", "prim::is_cpu", "prim::is_cuda",
                                                   "prim::is_meta", "aten::get_device"};

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

/// True for a branch that only raises errors: it validates, and computes nothing.
bool only_raises(const Node& branch) {
  if (!branch.outputs().empty()) return false;
  for (const auto* block : branch.blocks()) {
    for (const auto* node : block->nodes()) {
      if (node->kind() == prim::RaiseException) return true;
    }
  }
  return false;
}

class Decisions {
 public:
  explicit Decisions(const torch::jit::CompilationUnit& code) {
    for (auto* function : code.get_functions()) {
      auto* graph = graph_of_function(function);
      if (!graph) continue;
      graphs_.push_back(graph);
      if (function->qualname().qualifiedName().starts_with("__torch__.torch.nn."))
        of_torch_.insert(graph);
      for_each_node(graph->block(), [&](Node* node) {
        auto* callee = graph_of_function(function_called(*node));
        if (callee) callers_[callee].push_back(node);
      });
    }
  }

  /// True if an operator needs values.
  bool mark(c10::Symbol symbol) {
    bool needs_values = false;
    std::vector<Node*> found;
    for (auto* graph : graphs_) {
      for_each_node(graph->block(), [&](Node* node) {
        needs_values = needs_values || among(kNeedValues, *node);
        if (reads_value(*node) && decides(node->output())) found.push_back(node);
      });
    }
    for (auto* node : found) node->owningGraph()->create(symbol, {}, 0)->insertBefore(node);
    return needs_values || !found.empty();
  }

  /// Skips torch's own modules: they query the device to choose between equivalent kernels.
  void mark_devices(c10::Symbol symbol) {
    of_devices_ = true;
    deciding_.clear();
    harmless_.clear();
    std::vector<Node*> found;
    for (auto* graph : graphs_) {
      if (of_torch_.contains(graph)) continue;
      for_each_node(graph->block(), [&](Node* node) {
        if (among(kDevices, *node) && decides(node->output())) found.push_back(node);
      });
    }
    for (auto* node : found) node->owningGraph()->create(symbol, {}, 0)->insertBefore(node);
  }

 private:
  /// Whether the value reaches a decision. Not recursive, because programs may be long. Results are
  /// cached, so each value is followed once.
  bool decides(const Value* start) {
    std::vector<const Value*> found{start};
    predecessor_.clear();
    predecessor_[start] = nullptr;
    for (size_t i = 0; i < found.size(); ++i) {
      const auto* value = found[i];
      next_.clear();
      const bool is_deciding =
          deciding_.contains(value) || std::any_of(value->uses().begin(), value->uses().end(),
                                                   [&](const Use& use) { return follow(use); });
      if (is_deciding) {
        for (; value; value = predecessor_[value]) deciding_.insert(value);
        return true;
      }
      for (const auto* n : next_) {
        if (!harmless_.contains(n) && predecessor_.emplace(n, value).second) found.push_back(n);
      }
    }
    harmless_.insert(found.begin(), found.end());
    return false;
  }

  /// True if the use itself decides. Otherwise appends the values that follow from it to next_.
  bool follow(const Use& use) {
    const auto* node = use.user;
    if (node->kind() == prim::If) return !of_devices_ || !only_raises(*node);
    if (node->kind() == prim::SetAttr) return !of_devices_;
    if (node->kind() == prim::Loop) {
      if (use.offset < 2) return true;
      next_.push_back(node->blocks()[0]->inputs()[use.offset - 1]);
      next_.push_back(node->outputs()[use.offset - 2]);
      return false;
    }
    if (node->kind() == prim::Return) return follow_end_of_block(use);
    if (const auto* callee = graph_of_function(function_called(*node))) {
      const auto i = use.offset - (node->kind() == prim::CallFunction ? 1 : 0);
      if (i < callee->inputs().size()) next_.push_back(callee->inputs()[i]);
      return false;
    }
    if (among(kIgnoreValue, *node)) return false;
    const bool appends = std::string_view(node->kind().toQualString()) == "aten::append";
    if (appends && use.offset == 1) {
      next_.push_back(node->input(0));
      return false;
    }
    for (const auto* output : node->outputs()) {
      const bool tensor = output->type()->isSubtypeOf(*c10::TensorType::get());
      if (!tensor) next_.push_back(output);
    }
    return false;
  }

  bool follow_end_of_block(const Use& use) {
    const auto* block = use.user->owningBlock();
    const auto* owner = block->owningNode();
    if (!owner) {
      for (const auto* call : callers_[block->owningGraph()]) {
        if (!call->outputs().empty()) next_.push_back(call->output(0));
      }
    } else if (owner->kind() != prim::Loop) {
      if (use.offset < owner->outputs().size()) next_.push_back(owner->outputs()[use.offset]);
    } else {
      if (use.offset == 0) return true;
      next_.push_back(block->inputs()[use.offset]);
      next_.push_back(owner->outputs()[use.offset - 1]);
    }
    return false;
  }

  bool of_devices_ = false;
  std::vector<torch::jit::Graph*> graphs_;
  std::unordered_set<const torch::jit::Graph*> of_torch_;  // graphs of torch's own modules
  std::unordered_map<const torch::jit::Graph*, std::vector<const Node*>> callers_;
  std::unordered_set<const Value*> deciding_, harmless_;        // results so far
  std::unordered_map<const Value*, const Value*> predecessor_;  // the path of the current search
  std::vector<const Value*> next_;
};

c10::Symbol mark_symbol() {
  static const auto symbol = [] {
    static const torch::jit::RegisterOperators registration({torch::jit::Operator(
        "tmeter::decides() -> ()",
        [](torch::jit::Stack&) { evaluation_state().next_value_is_condition = true; },
        c10::AliasAnalysisKind::CONSERVATIVE)});
    return c10::Symbol::fromQualString("tmeter::decides");
  }();
  return symbol;
}

c10::Symbol device_symbol() {
  static const auto symbol = [] {
    static const torch::jit::RegisterOperators registration({torch::jit::Operator(
        "tmeter::queries_device() -> ()",
        [](torch::jit::Stack&) {
          note_question(
              "the model branches on the device of a tensor; here tensors have no device, so a CPU "
              "or GPU may take another branch");
        },
        c10::AliasAnalysisKind::CONSERVATIVE)});
    return c10::Symbol::fromQualString("tmeter::queries_device");
  }();
  return symbol;
}

}  // namespace

bool mark_decisions(const torch::jit::CompilationUnit& code) {
  Decisions decisions(code);
  const bool needs_values = decisions.mark(mark_symbol());
  decisions.mark_devices(device_symbol());
  return needs_values;
}

}  // namespace tmeter::torch_backend
