// What the loader knows of a program and no file has: for a run of the graph it makes of it, later in
// the same process (execute/).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

struct Kept {
  /// Tensors that the program holds as text, or that were read to steer it; by their name in the graph.
  std::map<std::string, at::Tensor, std::less<>> constants;
  /// By node: what the program wrote, without an operator, into the memory that the node gave it
  /// (torch.tensor of a list).
  std::map<size_t, at::Tensor> filled;
  /// The inputs with which a program was recorded that goes where data leads it; else empty.
  std::vector<at::Tensor> inputs;
};

/// Of the model that was loaded last.
inline Kept& kept() {
  static auto* const all = new Kept();  // never destroyed: LibTorch may be gone before it
  return *all;
}

/// For a run of this graph; nothing when it is of another kind of file.
inline const Kept& kept_of(const Graph& graph) {
  static const auto* const nothing = new Kept();
  return graph.property("format").starts_with("TorchScript") ? kept() : *nothing;
}

}  // namespace tmeter::torch_backend
