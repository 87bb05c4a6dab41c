// Which inputs, and which guesses about operators nobody knows, a model accepts: found by trying.
#pragma once
#include <optional>

#include "torchscript/run/foreign.hpp"
#include "torchscript/input_inference/inputs.hpp"
#include "torchscript/run/interpreter.hpp"

namespace tmeter::torch_backend {

std::vector<c10::IValue> values_of(const InputSet& inputs);

struct Chosen {
  const InputSet& inputs;
  std::optional<Failure> undecided;  // where a run without values ends, when it does
  std::string assumed;  // "aten::nonzero in rpn": the first operator whose result's size was assumed
};

/// The first set of inputs that the model accepts, with the first plan of `foreign` under which it
/// does; what leaves no choice is not tried unless the program `may_ask` for values. A run that
/// ends at a decision about data fits as well. Throws when nothing fits, naming what was tried.
Chosen choose(const std::vector<InputSet>& sets, const ModelFile& file, const ModuleTree& tree,
              ForeignOperators& foreign, Limits& limits, const Call& call, bool may_ask);

}  // namespace tmeter::torch_backend
