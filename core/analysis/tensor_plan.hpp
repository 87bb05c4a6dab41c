// How a tensor is cut for streaming: parts, which are analysed independently and merged in order,
// and chunks, which fit into a core's cache. By its shape alone, so that figures do not depend on
// the number of threads (sdk abi/tensor_analysis.h promises the rest).
#pragma once
#include <cstdint>

#include "core/ir/graph.hpp"

namespace tmeter::core {

struct TensorPlan {
  int64_t numel = 0, part = 1, chunk = 1;  // elements

  explicit TensorPlan(const Tensor& tensor);

  /// At least one, also without elements, so that every tensor has a beginning and an end.
  int64_t part_count() const { return numel == 0 ? 1 : (numel + part - 1) / part; }
  int64_t part_begin(int64_t i) const { return i * part; }
  int64_t part_end(int64_t i) const { return numel - i * part < part ? numel : (i + 1) * part; }
};

}  // namespace tmeter::core
