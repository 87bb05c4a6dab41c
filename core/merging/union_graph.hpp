// The graph of a checkpoint from those of its shards.
#pragma once
#include <memory>
#include <vector>

#include "core/merging/merging.hpp"

namespace tmeter::core {

/// The origin of a tensor of the whole.
struct Origin {
  size_t part, tensor;
};

struct UnionGraph {
  std::unique_ptr<Graph> graph;
  std::vector<Origin> origins;               // by tensor of the whole
  std::vector<std::vector<size_t>> tensors;  // by part and tensor there: the one of the whole
  std::vector<std::vector<size_t>> modules;  // by part and module there: the one of the whole
};

/// Modules and tensors in the order in which the loader of the whole shows them. Throws
/// Error(kModel) naming both files when a tensor is in two of them.
UnionGraph unite(const std::vector<Part>& parts);

}  // namespace tmeter::core
