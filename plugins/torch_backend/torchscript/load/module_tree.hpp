// The module tree of a loaded model, pushed into the host's graph.
#pragma once
#include <string>
#include <unordered_map>

#include "operators/libtorch_jit.hpp"
#include "torchscript/load/model_file.hpp"

namespace tmeter::torch_backend {

/// Maps LibTorch's objects and tensors to the graph. Keys are identities, so calls and arguments
/// are attributed exactly, independent of their names.
struct ModuleTree {
  struct Place {
    GraphBuilder::Id id;
    std::string path;  // "layer1.0.conv1"
  };
  std::unordered_map<const c10::ivalue::Object*, Place> modules;
  std::unordered_map<const c10::TensorImpl*, GraphBuilder::Id> tensors;
  std::vector<at::Tensor> replaced;  // in the model; held so that their addresses are not reused
  GraphBuilder::Id root = 0;
};

/// Pushes modules, their hyper-parameters and tensors in the order of registration. Sets the model
/// to evaluation mode and reads the values of small integer buffers from the file.
ModuleTree push_modules(const ModelFile& file, GraphBuilder& builder);

}  // namespace tmeter::torch_backend
