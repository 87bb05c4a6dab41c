// Rules for what a plugin may emit: values of its own metrics, for rows of the table they are
// declared for, and only values that make sense. A violation is a defect of the plugin, thrown as
// Error(kPlugin); the call adds the plugin's name (core/plugin_host/call.hpp).
#pragma once
#include <tmeter/abi/finding.h>

#include <string_view>

#include "core/analysis/results.hpp"
#include "core/ir/graph.hpp"

namespace tmeter::core {

/// Rows of the table; 0 for an unknown axis.
size_t axis_size(const Graph& graph, int32_t axis);

/// Throws if the target of `what` ("finding 'dead-relu'") is not a row of the table.
void require_target(const Graph& graph, const tmeter_target& target, std::string_view what);

/// Handlers may give values of other plugins' metrics; everything else is the owner's.
void require_own(const Column& column, std::string_view plugin);

/// An analysis fills the table that the metric is declared for. Without an aggregation it may also
/// fill those of calls, modules and the model.
void require_table(const Column& column, int32_t axis);

/// Checks that the kind is known and the value finite, and counts, bytes and operations not
/// negative.
void require_value(const Column& column, const tmeter_number& value);

void require_provenance(const Column& column, int32_t provenance);

}  // namespace tmeter::core
