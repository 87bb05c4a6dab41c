// Writes a run into the host's graph: inputs, one node per operator, outputs.
#pragma once
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "operators/evaluator.hpp"
#include "operators/operator_info.hpp"
#include "torchscript/load/module_tree.hpp"
#include "torchscript/run/loaded_model_state.hpp"

namespace tmeter::torch_backend {

/// Maps LibTorch values to values of the graph.
///
/// A tensor is known by the identity of its TensorImpl; an in-place operator gives the same tensor
/// a new value. The TensorImpl of every tensor seen is held (without its memory), so that no
/// address is reused.
class Values {
 public:
  using Id = GraphBuilder::Id;
  Values(GraphBuilder& builder, const ModuleTree& tree, LoadedModelState& state)
      : builder_(builder), tree_(tree), state_(state) {}

  /// The value that an argument refers to.
  Id use(const c10::IValue& value, ArgKind kind = ArgKind::kPlain);
  /// A new value for an input or a result; later uses of its tensors refer to it.
  Id define(const c10::IValue& value);
  /// Whether the tensor is only a number in tensor form, not a value of the graph: sizes, and
  /// constants of traces.
  bool is_number(const at::Tensor& tensor) const;

 private:
  Id use_tensor(const at::Tensor& tensor);
  Id define_tensor(const at::Tensor& tensor);
  Id constant(const at::Tensor& tensor);
  Id number(const at::Tensor& tensor);
  Id number(const at::Scalar& scalar);
  Id use_int(int64_t value, ArgKind kind);
  template <class F>
  Id list(const c10::IValue& value, const F& each);

  GraphBuilder& builder_;
  const ModuleTree& tree_;
  LoadedModelState& state_;
  std::unordered_map<const c10::TensorImpl*, Id> tensors_;
  void keep(const at::Tensor& t) { kept_.emplace_back(t.getIntrusivePtr()); }

  std::vector<c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>> kept_;
  size_t constants_ = 0;
  size_t depth_ = 0;  // depth of nested lists
};

class Recorder {
 public:
  Recorder(GraphBuilder& builder, const ModuleTree& tree, Call& call, LoadedModelState& state)
      : builder_(builder), call_(call), state_(state), values_(builder, tree, state) {}

  void input(const std::string& name, const std::string& origin, const c10::IValue& value) {
    builder_.input(name, origin, values_.define(value));
  }
  /// Records an executed operator. Operators that only compute sizes are omitted, as in a
  /// torch.export graph.
  void node(const OperatorInfo& op, const torch::jit::Stack& args,
            c10::ArrayRef<c10::IValue> results, GraphBuilder::Id module_call);
  void output(const c10::IValue& value);
  /// Warns once per operator.
  void assumed(Assumption assumption, const OperatorInfo& op, const std::string& path);
  /// Warns once about a query whose answer may differ on another machine.
  void note_query(const std::string& what);

 private:
  void keep_filled(const at::Tensor& tensor);
  bool computes_tensors(const OperatorInfo& op, const torch::jit::Stack& args,
                        c10::ArrayRef<c10::IValue> results) const;

  GraphBuilder& builder_;
  Call& call_;
  LoadedModelState& state_;
  Values values_;
  size_t nodes_ = 0;
  // Uninitialised tensors, and the node that created each.
  std::vector<std::pair<at::Tensor, size_t>> unfilled_;
  std::set<std::string> warned_;  // operators
};

}  // namespace tmeter::torch_backend
