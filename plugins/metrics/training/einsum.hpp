// The layout that at::einsum gives the two operands of a product: it keeps a view or a copy of
// each.
#pragma once
#include <optional>
#include <string_view>
#include <utility>

#include "layout.hpp"

namespace training {

/// An operand as the batch of matrices that is multiplied.
struct BatchedMatrix {
  Dims shape, strides;  // permuted, before the reshape
  Dims to;              // batch, rows, columns
};

struct EinsumOperand {
  DimSpan shape, strides;
};

/// Empty when nothing is summed over (then it is an elementwise product), for equations with "..."
/// or a label twice in an operand.
std::optional<std::pair<BatchedMatrix, BatchedMatrix>> einsum_matrices(std::string_view equation,
                                                                       EinsumOperand left,
                                                                       EinsumOperand right);

}  // namespace training
