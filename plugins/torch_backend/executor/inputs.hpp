// Inputs of a run: values from files, or made up.
#pragma once
#include <tmeter/cpp/executor.hpp>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

struct RunInputs {
  std::vector<at::Tensor> tensors;  // in the order of Program::inputs
  std::string described;            // "made up, seed 0", "of x.npy"
};

/// Throws TMETER_BAD_USAGE if a file does not fit, naming the file, the input, and both shapes.
RunInputs inputs_for(const Graph& graph, const tmeter_run_request& request, at::Device device);

}  // namespace tmeter::torch_backend
