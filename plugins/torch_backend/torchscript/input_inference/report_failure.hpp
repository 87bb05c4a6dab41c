// A failed run as one sentence: which module and operator, what it expected, what it got.
#pragma once
#include "torchscript/input_inference/inputs.hpp"
#include "torchscript/run/interpreter.hpp"

namespace tmeter::torch_backend {

/// Throws. Inputs of the user's that do not fit are TMETER_BAD_MODEL; all else is
/// TMETER_CANNOT_RUN.
[[noreturn]] void report_failure(const Failure& failure, const InputSet& inputs);

/// Throws TMETER_CANNOT_RUN: the values that decide are not in the file.
[[noreturn]] void report_undecided(const Failure& failure, const std::string& missing_weight);

/// Throws TMETER_CANNOT_RUN: no guess at the results of these operators fits.
[[noreturn]] void report_unknown_operators(const Failure& first, const std::string& operators);

/// Throws TMETER_BAD_USAGE: none of the inferred inputs fits; names them all.
[[noreturn]] void report_no_fit(const Failure& first, const std::vector<InputSet>& tried,
                                const c10::FunctionSchema& forward);

}  // namespace tmeter::torch_backend
