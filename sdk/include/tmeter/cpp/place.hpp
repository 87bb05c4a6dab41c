// Deprecated: a helper of tmeter's own plugins, which have it in plugins/common now. It stays,
// unchanged, so that plugins that include it still build; new plugins should not include it.
//
// The common name of an operator call in findings and warnings of all plugins.
#pragma once
#include "graph.hpp"

TMETER_SDK_BEGIN

/// "layers.0.attention (aten::scaled_dot_product_attention)"; only the operator in the root.
inline std::string place(const Node& node) {
  const auto path = node.call() ? node.call().module().path() : std::string_view();
  return path.empty() ? std::string(node.op())
                      : std::string(path) + " (" + std::string(node.op()) + ")";
}

TMETER_SDK_END
