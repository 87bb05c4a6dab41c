// What a plugin may say of which metric: figures of its own metrics, for the table they are
// declared for, and only figures that can be. Everything else is a defect of the plugin, thrown as
// Error(kPlugin) without its name, which the call adds (core/plugin_host/call.hpp).
#pragma once
#include <string_view>

#include "core/analysis/results.hpp"

namespace tmeter::core {

/// Handlers may give figures of other plugins' metrics; everything else is the owner's.
void require_own(const Column& column, std::string_view plugin);

/// An analysis fills the table that the metric is declared for and, where nothing is added up,
/// those of modules and the model, too.
void require_table(const Column& column, int32_t axis);

/// Of a known kind, finite, and not negative where things, bytes or operations are counted.
void require_figure(const Column& column, const tmeter_number& value);

void require_provenance(const Column& column, int32_t provenance);

}  // namespace tmeter::core
