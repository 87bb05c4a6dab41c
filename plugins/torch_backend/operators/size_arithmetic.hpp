// Operators on sizes: aten::sym_size, Python's operators, math and torch.sym_….
#pragma once
#include <optional>

#include "operators/arguments.hpp"

namespace tmeter::torch_backend {

/// The result, when the node is such an operator. Throws std::runtime_error where it has none
/// (division by zero, overflow).
std::optional<c10::IValue> size_arithmetic(const Node& node, Environment& environment);

/// The same for operands that are known only when it runs; a tensor for aten::sym_size. Null when it is
/// no such operator.
using SizeFunction = c10::IValue (*)(const std::vector<c10::IValue>& operands);
SizeFunction arithmetic_on_sizes(std::string_view op, size_t operands);

/// Checks and hints for the exporter: they compute nothing.
bool is_assertion(std::string_view op);

}  // namespace tmeter::torch_backend
