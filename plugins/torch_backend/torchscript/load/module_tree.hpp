// The module tree of a loaded model, pushed into the host's graph.
#pragma once
#include <string>
#include <unordered_map>

#include "operators/libtorch.hpp"
#include "torchscript/load/model_file.hpp"

namespace tmeter::torch_backend {

/// Where LibTorch's objects are in the graph. Objects and tensors are found by identity, so that a
/// call or an argument is attributed exactly, whatever it is named.
struct ModuleTree {
  struct Place {
    GraphBuilder::Id id;
    std::string path;  // "layer1.0.conv1"
  };
  std::unordered_map<const c10::ivalue::Object*, Place> modules;
  std::unordered_map<const c10::TensorImpl*, GraphBuilder::Id> tensors;
  std::vector<at::Tensor> kept;  // replaced in the model; their addresses must stay taken
  GraphBuilder::Id root = 0;
};

/// Pushes modules, their hyper-parameters and tensors in the order of registration. Puts the model
/// into evaluation mode, and gives small integer buffers their values from the file.
ModuleTree push_modules(const ModelFile& file, GraphBuilder& builder);

}  // namespace tmeter::torch_backend
