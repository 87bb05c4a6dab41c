// Operators that LibTorch lacks, by the shape rules of plugins.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

struct Rule {
  c10::FunctionSchema schema;
  std::string plugin;  // id
};

/// The rule for "acme::gated_mlp" or "acme::gated_mlp.out", if a plugin has one. Throws Error if
/// its schema cannot be parsed.
std::optional<Rule> find_rule(const Call& call, const std::string& op);

/// The results of a call by the rule: an argument itself if the schema says that the result aliases
/// it, else meta tensors. Throws ShapeRefused if the rule refuses the arguments.
std::vector<c10::IValue> results_by_rule(const Call& call, const std::string& op, const Rule& rule,
                                         const torch::jit::Stack& args);

/// Throws Error if a result has another type than the rule's schema.
void require_types(const std::string& op, const Rule& rule,
                   const std::vector<c10::IValue>& results);

/// "f32[2, 8]", "7", "(f32[2], f32[3])"
std::string shape_text(const c10::IValue& v);

/// "the shape rule of plugin com.acme.layers for acme::gated_mlp"
std::string rule_text(const std::string& op, const Rule& rule);

}  // namespace tmeter::torch_backend
