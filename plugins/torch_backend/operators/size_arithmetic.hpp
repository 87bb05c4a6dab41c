// Operators on sizes: aten::sym_size, Python's operators, math and torch.sym_….
#pragma once
#include <optional>

#include "operators/arguments.hpp"

namespace tmeter::torch_backend {

/// The result, if the node is such an operator. Throws std::runtime_error if the result is
/// undefined (division by zero, overflow).
std::optional<c10::IValue> size_arithmetic(const Node& node, Environment& environment);

/// The function for operands known only at run time; aten::sym_size takes a tensor. Null for other
/// operators.
using SizeFunction = c10::IValue (*)(const std::vector<c10::IValue>& operands);
SizeFunction arithmetic_on_sizes(std::string_view op, size_t operands);

/// Checks and hints for the exporter, which compute nothing.
bool is_assertion(std::string_view op);

}  // namespace tmeter::torch_backend
