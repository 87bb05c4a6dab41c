// The tape of a forward: what autograd keeps for the backward, node by node.
#pragma once
#include <optional>
#include <span>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "placement.hpp"

namespace training {

struct Tape {
  std::vector<Storage> storages;
  std::vector<uint32_t> last_use;  // by storage: the last node that reads or makes it, or kNone
  std::vector<uint32_t> outputs;   // storages of the model's results
  std::unordered_map<const tmeter_value*, Place> places;
  std::vector<bool> has_rule;    // by node: whether its rule is known
  std::vector<uint32_t> kept;    // of all nodes in order; without parameters and buffers
  std::vector<size_t> kept_end;  // by node: end of its part of `kept`

  size_t nodes() const { return kept_end.size(); }
  void end_node(bool is_known) {
    has_rule.push_back(is_known);
    kept_end.push_back(kept.size());
  }
  /// Storages, some more than once; other nodes may keep them as well.
  std::span<const uint32_t> saved_by(size_t node) const {
    const size_t begin = node == 0 ? 0 : kept_end[node - 1];
    return {kept.data() + begin, kept_end[node] - begin};
  }
};

Tape record_tape(const tmeter::Graph& graph, const Gradients& gradients, const Settings& settings);

}  // namespace training
