// What goes into each module and what comes out: its first input from outside and its result.
#pragma once
#include <vector>

#include "core/ir/graph.hpp"

namespace tmeter::core {

/// Of the first call of a module. Null: the module is not called, or takes or gives no tensor.
struct ModuleIo {
  const Value* input = nullptr;   // the first tensor it uses that was made outside (no parameter)
  const Value* output = nullptr;  // the last tensor it makes that is used outside
};

/// By module index.
std::vector<ModuleIo> module_io(const Graph& graph);

}  // namespace tmeter::core
