// Operators on sizes: aten::sym_size, Python's operators, math and torch.sym_….
#pragma once
#include <optional>

#include "propagate/arguments.hpp"

namespace tmeter::torch_backend {

/// The result, when the node is such an operator. Throws std::runtime_error where it has none
/// (division by zero, overflow).
std::optional<c10::IValue> size_arithmetic(const Node& node, Environment& environment);

/// Checks and hints for the exporter: they compute nothing.
bool is_assertion(std::string_view op);

}  // namespace tmeter::torch_backend
