// Operators whose other arithmetic is a number per element: activations, elementwise, reductions.
#pragma once
#include "shapes.hpp"

namespace flops {

/// The cost of a node by the table of elementwise.cpp; unsupported when the table lacks it.
Cell per_element_cost(const Node& n, std::string_view base_name);

}  // namespace flops
