// The ids by which reports name modules: "0" for the root, "1", "2", … for its children, "5.1" for
// the first child of "5". Every writer uses these, so that reports can be read side by side.
#pragma once
#include <vector>

#include "graph.hpp"

TMETER_SDK_BEGIN

/// One id per module, by Module::index(). Modules are in pre-order: parents come first.
inline std::vector<std::string> module_ids(const Graph& graph) {
  const auto modules = graph.modules();
  std::vector<std::string> ids(modules.size());
  if (!ids.empty()) ids[0] = "0";
  for (const auto& module : modules) {
    const std::string prefix = module.index() == 0 ? "" : ids[module.index()] + ".";
    for (size_t i = 0; i < module.child_count(); ++i)
      ids[module.child(i).index()] = prefix + std::to_string(i + 1);
  }
  return ids;
}

TMETER_SDK_END
