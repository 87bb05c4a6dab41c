// Descriptions of modules beside values of metrics; computed when a writer first needs them.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/graph.hpp"
#include "core/module_description/repeats.hpp"

namespace tmeter::core {

/// The texts of a module, by the key that writers use: how PyTorch prints it; the kernel size of
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
