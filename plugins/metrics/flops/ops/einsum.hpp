// An einsum equation with its operands: the size of each label in each operand.
#pragma once
#include <vector>

#include "shapes.hpp"

namespace flops {

/// A set of labels as bits: A–Z 0…25, a–z 26…51 (torch's order), then up to 12 dims of "…".
using Labels = uint64_t;
inline constexpr size_t kMaxLabels = 64;

/// Sizes by label; 1 where the operand does not have the label.
struct EinsumOperand {
  Labels labels = 0;
  std::vector<int64_t> size = std::vector<int64_t>(kMaxLabels, 1);
};

struct Einsum {
  std::vector<EinsumOperand> operands;
  Labels output = 0;
};

/// Parses `equation` for the tensors of a node. Throws Unsupported when they do not fit together.
Einsum parse_einsum(const Node& n);

}  // namespace flops
