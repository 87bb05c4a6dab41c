// The tables a result can be about, and whether they have a row.
#pragma once
#include <tmeter/abi/finding.h>

#include <string_view>

#include "core/ir/graph.hpp"

namespace tmeter::core {

/// Rows of the table; 0 when there is no such table.
size_t axis_size(const Graph& graph, int32_t axis);

/// Throws Error(kPlugin) when `what` – "finding 'dead-relu'" – is about a row that is not there.
void require_target(const Graph& graph, const tmeter_target& target, std::string_view what);

}  // namespace tmeter::core
