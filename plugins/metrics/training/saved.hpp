// What autograd keeps for the backward, by the node that is the first to keep it.
#pragma once
#include <optional>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "placement.hpp"

namespace training {

struct Saved {
  /// By node: bytes of the storages that it is the first to keep; empty where nobody knows what it
  /// keeps.
  std::vector<std::optional<tmeter::Count>> by_node;
  tmeter::Count total = 0;
  /// By storage of `placement`: the node that keeps it; kNone: none does.
  std::vector<uint32_t> keeper;
  std::vector<Storage> storages;
  /// By node, the storages that its results and arguments have: for the memory of a step.
  std::vector<std::vector<uint32_t>> touched;
};

Saved saved_tensors(const tmeter::Graph& graph, const Gradients& gradients,
                    const Settings& settings);

}  // namespace training
