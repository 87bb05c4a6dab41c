// What the loader knows of a program and no file has: for a run of the graph it makes of it, later in
// the same process (execute/).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "libtorch.hpp"

namespace tmeter::torch_backend {

struct Kept {
  /// Tensors that the program holds as text, or that were read to steer it; by their name in the graph.
  std::map<std::string, at::Tensor, std::less<>> constants;
  /// The inputs with which a program was recorded that goes where data leads it; else empty.
  std::vector<at::Tensor> inputs;
};

/// Of the model that was loaded last.
inline Kept& kept() {
  static auto* const all = new Kept();  // never destroyed: LibTorch may be gone before it
  return *all;
}

}  // namespace tmeter::torch_backend
