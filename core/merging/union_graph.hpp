// The graph of a checkpoint from those of its shards, and whether they can be merged.
#pragma once
#include <memory>
#include <vector>

#include "core/merging/merging.hpp"

namespace tmeter::core {

// Checks that reports can be merged, and finds their common properties.

/// Throws Error(kModel), naming two files and what differs, unless all are of weights, have the
/// same metrics by the same conventions and options, and their names show that no shard is missing.
void require_agreement(const std::vector<Part>& parts);

/// "model.safetensors" of "model-00001-of-00005.safetensors"; `number` and `of` are set. Empty:
/// another name.
std::string unnumbered(const std::string& file, size_t& number, size_t& of);

/// The origin of a tensor of the whole.
struct Origin {
  size_t part, tensor;
};

struct UnionGraph {
  std::unique_ptr<Graph> graph;
  std::vector<Origin> origins;               // by tensor of the whole
  std::vector<std::vector<size_t>> tensors;  // by part and its tensor: the tensor of the whole
  std::vector<std::vector<size_t>> modules;  // by part and its module: the module of the whole
};

/// Modules and tensors in the order in which the loader of the whole shows them. Throws
/// Error(kModel) naming both files when a tensor is in two of them.
UnionGraph unite(const std::vector<Part>& parts);

}  // namespace tmeter::core
