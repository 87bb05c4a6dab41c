// LibTorch values as values of the graph.
//
// A tensor is known by the identity of its TensorImpl; operators that work in place give the same
// tensor a new value. Of every tensor seen the TensorImpl is kept (not its memory), so that no
// address is used twice.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "torchscript/load/module_tree.hpp"
#include "torchscript/loaded_model_state.hpp"
#include "operators/operator_info.hpp"

namespace tmeter::torch_backend {

class Values {
 public:
  using Id = GraphBuilder::Id;
  Values(GraphBuilder& builder, const ModuleTree& tree, LoadedModelState& state)
      : builder_(builder), tree_(tree), state_(state) {}

  /// What an argument refers to.
  Id use(const c10::IValue& value, ArgKind kind = ArgKind::kPlain);
  /// A new value for an input or a result; later uses of its tensors refer to it.
  Id define(const c10::IValue& value);
  /// True for numbers in tensor form that stand in no graph value: sizes, and constants of traces.
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
  size_t depth_ = 0;  // of the list that is being described
};

}  // namespace tmeter::torch_backend
