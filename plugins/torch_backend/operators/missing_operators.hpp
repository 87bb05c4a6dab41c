// Operators that LibTorch lacks: shape rules of plugins, libraries that the user names, and
// declarations of operators whose library is missing.
#pragma once
#include <optional>
#include <string>
#include <string_view>
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

/// The results of a call by the rule: an argument itself if the schema declares that the result
/// aliases it, else meta tensors. Throws ShapeRefused if the rule refuses the arguments.
std::vector<c10::IValue> results_by_rule(const Call& call, const std::string& op, const Rule& rule,
                                         const torch::jit::Stack& args);

/// Throws Error if a result has another type than the rule's schema.
void require_types(const std::string& op, const Rule& rule,
                   const std::vector<c10::IValue>& results);

/// "f32[2, 8]", "7", "(f32[2], f32[3])"
std::string shape_text(const c10::IValue& v);

/// "the shape rule of plugin com.acme.layers for acme::gated_mlp"
std::string rule_text(const std::string& op, const Rule& rule);

// Libraries and declarations.

/// Opens each library of "a.so:b.so"; the user trusts their code. The operators they register with
/// LibTorch stay until the process ends. Throws TMETER_BAD_USAGE if one cannot be opened.
void open_operator_libraries(std::string_view paths);
void open_operator_library(const std::string& path);

/// Whether an opened library registered the operator "torchvision::nms".
bool is_of_operator_library(std::string_view op);

/// Declares the operator with this schema and without an implementation. Throws LibTorch's
/// error if the operator already exists. The next library that is opened withdraws all
/// declarations, because it may bring the same operators.
void declare_operator(const std::string& op, c10::FunctionSchema schema);

}  // namespace tmeter::torch_backend
