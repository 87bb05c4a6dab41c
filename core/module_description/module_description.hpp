// Descriptions of modules without values of metrics; computed when a writer first needs them.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/graph.hpp"

namespace tmeter::core {

// Runs of identical siblings: 12 equal transformer blocks, 3 × (Linear, ReLU, Linear).

/// `times` repetitions of `window` siblings, beginning at a module. times 0: none begins here.
struct Repeat {
  size_t window = 0, times = 0;
};

/// One entry per module, by index. Modules are identical when text (`module_texts`), tensors (name,
/// shape, type) and everything inside are equal. Of the windows that could begin at a place, the
/// one that covers most siblings is taken, and of equal ones the shortest.
std::vector<Repeat> find_repeats(const Graph& graph, const std::vector<std::string>& texts);

/// Descriptions of a module by the writers' key: PyTorch's repr of it; the kernel size of
/// convolutions and poolings; the sizes of its first input and its result in its first call.
inline constexpr std::array<std::string_view, 4> kModuleTexts{"text", "kernel_size", "input_size",
                                                              "output_size"};

struct ModuleDescriptions {
  ModuleDescriptions() = default;
  explicit ModuleDescriptions(const Graph& graph);
  /// Empty if the module has no such text or the key is unknown.
  const std::string& text(std::string_view key, size_t module) const;

  std::array<std::vector<std::string>, kModuleTexts.size()> texts;  // by key, then by module
  std::vector<Repeat> repeats;                                      // by module
};

}  // namespace tmeter::core
