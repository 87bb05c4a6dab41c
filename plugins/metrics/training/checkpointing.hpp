// Regions that run under checkpointing (torch.utils.checkpoint): instead of keeping their
// tape, the backward makes it again from the tensors that enter them.
#pragma once
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "saved.hpp"

namespace training {

struct Region {
  uint32_t begin = 0, end = 0;   // nodes, end left out
  uint32_t recomputed_end = 0;   // nothing after it is needed again
  std::vector<uint32_t> inputs;  // storages
};

class Regions {
 public:
  Regions() = default;
  /// `calls`: module calls that do not contain each other.
  Regions(const tmeter::Graph& graph, const Tape& tape,
          const std::vector<tmeter::ModuleCall>& calls);

  bool empty() const { return list_.empty(); }
  const std::vector<Region>& list() const { return list_; }
  /// Null: the node is in none.
  const Region* of(uint32_t node) const {
    return node < of_node_.size() && of_node_[node] != kNone ? &list_[of_node_[node]] : nullptr;
  }
  /// Whether the forward of the node runs a second time.
  bool recomputes(uint32_t node) const {
    const auto* region = of(node);
    return region && node < region->recomputed_end;
  }

 private:
  std::vector<Region> list_;
  std::vector<uint32_t> of_node_;
};

/// The outermost calls of modules whose type or path matches one of the patterns, which commas
/// separate. Throws Error(TMETER_BAD_USAGE) for a pattern that matches no call.
std::vector<tmeter::ModuleCall> checkpointed_calls(const tmeter::Graph& graph,
                                                   std::string_view patterns);

/// The regions of `training.checkpoint`. Records the tape only if there are any.
Regions checkpointed(const tmeter::Graph& graph, const Gradients& gradients,
                     const Settings& settings, const tmeter::Call& call);

/// By node, as `saved_bytes` of the tape, under checkpointing: a region keeps its inputs, at its
/// first node.
std::vector<std::optional<tmeter::Count>> saved_bytes(const Tape& tape, const Regions& regions);

// Proposes modules to run under checkpointing, by the memory saved and the work added.

struct Choice {
  std::string_view type;  // all outermost calls of modules of this type
  size_t calls = 0;
  Regions regions;
  tmeter::Count saved = 0;            // bytes that are kept then
  tmeter::Count recomputed_macs = 0;  // MACs that run again
};

/// At most `most` choices, sorted by the bytes saved per operation. `saved`: bytes kept without
/// checkpointing. A choice saves at least a twentieth of them.
std::vector<Choice> checkpoint_choices(const tmeter::Graph& graph, const Tape& tape,
                                       const std::vector<tmeter::Count>& macs, tmeter::Count saved,
                                       size_t most);

}  // namespace training
