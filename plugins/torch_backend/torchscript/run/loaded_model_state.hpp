// Facts about a program that the TorchScript loader learns by running it, because no file has them.
// A later run of the recorded graph in the same process needs them (executor/).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

struct LoadedModelState {
  /// Tensors in the program text, and tensors whose values decide its control flow; by their name
  /// in the graph.
  std::map<std::string, at::Tensor, std::less<>> constants;
  /// By node: values that the program wrote, without an operator, into the memory the node
  /// allocated (torch.tensor of a list).
  std::map<size_t, at::Tensor> filled;
  /// The inputs of the recorded run, if data decides the control flow; otherwise empty.
  std::vector<at::Tensor> inputs;
};

/// State of the last loaded model. The plugin interface gives loader and executor no
/// common context, so the process holds it: load_model() writes it, prepare() of the executor reads
/// it.
inline LoadedModelState& last_loaded_model() {
  // Never destroyed: LibTorch may be destroyed before it.
  static auto* const state = new LoadedModelState();
  return *state;
}

/// The state for a run of this graph; empty if another loader made the graph.
inline const LoadedModelState& state_of(const Graph& graph) {
  static const auto* const empty = new LoadedModelState();
  return graph.property("format").starts_with("TorchScript") ? last_loaded_model() : *empty;
}

}  // namespace tmeter::torch_backend
