// Operators whose other arithmetic is a number per element: activations, elementwise, reductions.
//
// The rule behind all such numbers: an addition, subtraction, multiplication, division, comparison,
// minimum, maximum, absolute value, square root, exponential, logarithm, tanh, sine or error
// function is one operation each. The formula is the one in the documentation of torch.nn.
#pragma once
#include <cstdint>

#include "shapes.hpp"

namespace flops {

// Costs of nonlinearities that more than one file needs.
inline constexpr int64_t kReluCost = 1;      // max(x, 0)
inline constexpr int64_t kTanhCost = 1;      // tanh(x)
inline constexpr int64_t kSigmoidCost = 4;   // 1 / (1 + exp(-x))
inline constexpr int64_t kGeluErfCost = 5;   // 0.5 * x * (1 + erf(x / sqrt 2))
inline constexpr int64_t kGeluTanhCost = 9;  // 0.5 * x * (1 + tanh(a * (x + b * x * x * x)))
inline constexpr int64_t kSoftmaxCost = 5;   // max, subtract, exp, sum, divide

/// The cost of a node by the table of elementwise.cpp; unsupported when the table lacks it.
Cell per_element_cost(const Node& n, std::string_view base_name);

}  // namespace flops
