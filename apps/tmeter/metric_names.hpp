// Names of metrics in --columns, --sort and --assert that the run lacks.
#pragma once
#include <vector>

#include "apps/tmeter/session.hpp"
#include "core/analysis/results.hpp"

namespace tmeter::app {

/// Throws core::Error(kUsage) if a metric is requested that the open plugins lack and another
/// installed one has. Names that plugin and the options that add it. Call before the analysis.
void require_metrics_of_run(const Session& session, const std::vector<core::Plugin*>& plugins);

/// The same for a saved report.
void require_metrics_of_report(const Session& session, const core::Results& results);

}  // namespace tmeter::app
