// Operators that LibTorch lacks, by the shape rules of plugins.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "libtorch.hpp"

namespace tmeter::torch_backend {

struct Rule {
  c10::FunctionSchema schema;
  std::string plugin;  // id
};

/// The rule for "acme::gated_mlp" or "acme::gated_mlp.out", if a plugin has one. Throws Error when
/// its schema cannot be read.
std::optional<Rule> find_rule(const Call& call, const std::string& op);

/// What the rule gives for a call with these arguments, as meta tensors. Throws ShapeRefused when
/// it does not take them.
std::vector<c10::IValue> results_by_rule(const Call& call, const std::string& op, const Rule& rule,
                                         const torch::jit::Stack& args);

}  // namespace tmeter::torch_backend
