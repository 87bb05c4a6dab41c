// What the model is run on: values from files, or made up.
#pragma once
#include <tmeter/cpp/executor.hpp>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

struct RunInputs {
  std::vector<at::Tensor> tensors;  // in the order of Program::inputs
  std::string described;            // "made up, seed 0", "of x.npy"
};

/// Throws TMETER_BAD_USAGE when a file does not fit: which file, which input, what it has and what it
/// should have.
RunInputs inputs_for(const Graph& graph, const tmeter_run_request& request, at::Device device);

/// Below which number the integers of an input must stay: rows of the smallest table that they choose
/// from. 0 when they choose from none.
int64_t vocabulary_of(const Graph& graph, const Value& input);

}  // namespace tmeter::torch_backend
