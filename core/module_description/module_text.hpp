// Modules as PyTorch prints them, `Conv2d(3, 64, kernel_size=(7, 7), stride=(2, 2))`, assembled
// from the file's content: tensors, the operator the module runs, attributes of TorchScript
// modules.
#pragma once
#include <string>
#include <vector>

#include "core/ir/graph.hpp"

namespace tmeter::core {

/// By module index.
struct ModuleTexts {
  std::vector<std::string> whole;
  std::vector<std::string> kernel_size;  // "[7, 7]" of convolutions and poolings, else empty
};

/// One description per module. For types of torch.nn if every number in it is known; otherwise only
/// the type ("Bottleneck"). Wording: torch 2.15.
ModuleTexts module_texts(const Graph& graph);

}  // namespace tmeter::core
