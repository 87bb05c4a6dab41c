// Proposes modules to run under checkpointing, by the memory saved and the work added.
#pragma once
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "regions.hpp"
#include "saved.hpp"

namespace training {

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
