// Layers by function: Convolution, Linear, Attention, Recurrent, Normalization, Activation,
// Pooling, Embedding, Other.
#pragma once
#include <string_view>
#include <tmeter/cpp/graph.hpp>

#include "groups.hpp"

namespace reports {

inline constexpr std::string_view kOtherFamily = "Other";

/// The family of a module by the name of its class. A module with others inside is of a family
/// only if it attends or recurs: what such a module runs itself is its family's work.
std::string_view family_of(const tmeter::Module& module);

/// A layer: of a family, or without modules inside.
bool is_layer(const tmeter::Module& module);

/// Layers by family, each with its own values. Values of other modules are in Other,
/// so that rows sum up to the total.
Groups by_family(const tmeter::Report& report, const std::vector<tmeter::Metric>& metrics);

}  // namespace reports
