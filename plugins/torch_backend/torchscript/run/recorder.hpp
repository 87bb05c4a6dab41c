// Writes a run into the host's graph: inputs, one node per operator, outputs.
#pragma once
#include <set>
#include <string>

#include "operators/meta_kernels/registry.hpp"
#include "torchscript/run/call_stack.hpp"
#include "torchscript/run/values.hpp"

namespace tmeter::torch_backend {

class Recorder {
 public:
  Recorder(GraphBuilder& builder, const ModuleTree& tree, Call& call, LoadedModelState& state)
      : builder_(builder), call_(call), state_(state), values_(builder, tree, state) {}

  void input(const std::string& name, const std::string& origin, const c10::IValue& value) {
    builder_.input(name, origin, values_.define(value));
  }
  /// One executed operator. Those that only compute sizes are left out, as in a torch.export graph.
  void node(const OperatorInfo& op, const torch::jit::Stack& args,
            c10::ArrayRef<c10::IValue> results, GraphBuilder::Id module_call);
  void output(const c10::IValue& value);
  /// Warns once for each operator.
  void assumed(Assumption assumption, const OperatorInfo& op, const std::string& path);

 private:
  void keep_filled(const at::Tensor& tensor);
  bool computes_tensors(const OperatorInfo& op, const torch::jit::Stack& args, c10::ArrayRef<c10::IValue> results) const;

  GraphBuilder& builder_;
  Call& call_;
  LoadedModelState& state_;
  Values values_;
  size_t nodes_ = 0;
  // Tensors that came without numbers, and the node that made each.
  std::vector<std::pair<at::Tensor, size_t>> unfilled_;
  std::set<std::string> warned_;  // operators
};

}  // namespace tmeter::torch_backend
