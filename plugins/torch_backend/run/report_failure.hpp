// A failed run as one sentence: which module and operator, what it expected, what it got.
#pragma once
#include "run/inputs.hpp"
#include "run/interpreter.hpp"

namespace tmeter::torch_backend {

/// "layer1.0.conv1 (aten::conv2d) expects 3 input channels, got 4"
struct Misfit {
  std::string text;
  bool of_weights;  // channels or features are not what the weights want
};
Misfit misfit(const Failure& failure);

/// Throws. Inputs of the user's that do not fit are TMETER_BAD_MODEL; all else is
/// TMETER_CANNOT_RUN.
[[noreturn]] void report_failure(const Failure& failure, const InputSet& inputs);

}  // namespace tmeter::torch_backend
