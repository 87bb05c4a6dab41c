// Descriptions of failures in one sentence.
#pragma once
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

// The line that states the cause in LibTorch's errors, which are pages of stack traces.

/// "expected input[1, 4, 224, 224] to have 3 channels …": one sentence, at most 300 characters.
std::string short_reason(std::string_view text);
std::string short_reason(const std::exception& error);

/// Rethrows the current exception. LibTorch's become TMETER_BAD_MODEL that names `record`.
[[noreturn]] void rethrow_as_bad_model(std::string_view record);

/// Runs a step of loading and translates its exceptions.
template <class F>
auto translate_load_errors(std::string_view record, F&& step) {
  try {
    return step();
  } catch (...) {
    rethrow_as_bad_model(record);
  }
}

// The place and reason of a failed run of operators.

/// The first failure. LibTorch's interpreter turns exceptions into text, so the
/// exception is kept here.
struct Failure {
  std::string module;  // path; empty in the root or when unknown
  std::string op;      // "aten::conv2d"; empty when no operator was running
  torch::jit::Stack args;
  std::vector<std::string> arg_names;
  std::string reason;
  bool data_dependent = false;
  /// An error of tmeter's (limits, the graph builder), to be rethrown unchanged.
  std::exception_ptr own;
};

struct FailureDescription {
  std::string text;  // "layer1.0.conv1 (aten::conv2d) expects 3 input channels, got 4"
  bool of_weights;   // channels or features differ from those of the weights
};
FailureDescription describe_failure(const Failure& failure);

/// "layer1 (aten::item) needs a value that depends on weights or inputs".
std::string undecided_text(const Failure& failure);

}  // namespace tmeter::torch_backend
