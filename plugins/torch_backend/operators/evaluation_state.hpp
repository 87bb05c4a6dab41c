// State that the evaluator shares with the kernels it calls through LibTorch's dispatcher, per
// thread.
#pragma once
#include <stdexcept>

namespace tmeter::torch_backend {

/// Thrown when a decision needs a value that only real weights and inputs could give.
class DataDependent : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a kernel assumed because the size or existence of its result depends on values.
enum class Assumption { kNone, kLargest, kOneValue, kNumberOne, kZeros };

struct EvaluationState {
  /// Set by kernels; the evaluator resets it before each operator.
  Assumption assumed = Assumption::kNone;
  /// Outside of a run, LibTorch's importer compares constants to pool equal ones; a guess serves
  /// it.
  bool model_is_running = false;
  /// The next value read out of a tensor decides the control flow
  /// (torchscript/run/decisions.hpp).
  bool next_value_decides = false;
  /// The program runs without values: a value that only sets a size is assumed to be 1.
  bool sizes_are_assumed = false;
};

inline EvaluationState& evaluation_state() {
  thread_local EvaluationState state;
  return state;
}

}  // namespace tmeter::torch_backend
