// Where and why a run of operators ended, and how that is said in one sentence.
#pragma once
#include <exception>
#include <string>
#include <vector>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

/// The first thing that went wrong. LibTorch's interpreter turns exceptions into text, so the
/// exception is kept here.
struct Failure {
  std::string module;  // path; empty in the root or when unknown
  std::string op;      // "aten::conv2d"; empty when no operator was running
  torch::jit::Stack args;
  std::vector<std::string> arg_names;
  std::string reason;
  bool data_dependent = false;
  std::exception_ptr
      own;  // an error of tmeter's (limits, the graph builder), to be rethrown unchanged
};

struct Misfit {
  std::string text;  // "layer1.0.conv1 (aten::conv2d) expects 3 input channels, got 4"
  bool of_weights;   // channels or features differ from those of the weights
};
Misfit misfit(const Failure& failure);

/// "layer1 (aten::item) needs a value that depends on weights or inputs".
std::string undecided_text(const Failure& failure);

}  // namespace tmeter::torch_backend
