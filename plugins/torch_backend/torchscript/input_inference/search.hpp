// Finds the inputs, and the guesses about operators without a shape rule, that a model accepts.
// Reports the error if it accepts none.
#pragma once
#include <optional>

#include "torchscript/input_inference/inputs.hpp"
#include "torchscript/load/foreign_operators.hpp"
#include "torchscript/run/interpreter.hpp"

namespace tmeter::torch_backend {

std::vector<c10::IValue> values_of(const InputSet& inputs);

struct AcceptedInputs {
  const InputSet& inputs;
  std::optional<Failure> undecided;  // the end of a run without values that ends early
  /// The first operator whose result has an assumed size: "aten::nonzero in rpn".
  std::string assumed;
};

/// The first set of inputs that the model accepts under a plan of `foreign`, which is left set. A
/// single set under a single plan is tried only if the program `needs_values`. A run that ends at a
/// decision about data counts as accepted. Throws if the model accepts no set, naming those that
/// were tried.
AcceptedInputs find_inputs(const std::vector<InputSet>& sets, const ModelFile& file,
                           const ModuleTree& tree, ForeignOperators& foreign, Limits& limits,
                           const Call& call, bool needs_values);

/// Throws TMETER_BAD_MODEL if inputs of the user do not fit, else TMETER_CANNOT_RUN.
[[noreturn]] void report_failure(const Failure& failure, const InputSet& inputs);

/// Throws TMETER_CANNOT_RUN, because the file lacks values that decide.
[[noreturn]] void report_undecided(const Failure& failure, const std::string& missing_weight);

/// Throws TMETER_CANNOT_RUN, because no guess at the results of these operators fits.
[[noreturn]] void report_unknown_operators(const Failure& first, const std::string& operators);

/// Throws TMETER_BAD_USAGE, naming all inferred inputs, because none fits.
[[noreturn]] void report_no_fit(const Failure& first, const std::vector<InputSet>& tried,
                                const c10::FunctionSchema& forward);

}  // namespace tmeter::torch_backend
