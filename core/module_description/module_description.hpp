// What a report tells of modules besides figures; worked out when a writer first asks for it.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/graph.hpp"
#include "core/module_description/repeats.hpp"

namespace tmeter::core {

/// Facts of a module that are texts, by the key writers ask with.
inline constexpr std::array<std::string_view, 4> kModuleFacts{"text", "kernel_size", "input_size",
                                                              "output_size"};

struct Structure {
  Structure() = default;
  explicit Structure(const Graph& graph);
  /// Empty when the module has no such fact or the key is unknown.
  const std::string& fact(std::string_view key, size_t module) const;

  std::array<std::vector<std::string>, kModuleFacts.size()> facts;  // by module
  std::vector<Repeat> repeats;                                      // by module
};

}  // namespace tmeter::core
