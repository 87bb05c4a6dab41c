// `tmeter diff --columns sqnr`: compares the weights of AFTER with those of BEFORE, element by
// element.
#pragma once
#include <string>

#include "apps/tmeter/session.hpp"
#include "core/report/report.hpp"

namespace tmeter::app {

/// Whether the command line requests it.
bool requests_weight_errors(const CommandLine& line);

/// Adds the metric "sqnr" to both reports of a finished comparison; AFTER's tensors,
/// modules and model have values: 10 log10(Σ before² / Σ (before − after)²) in dB. Reads both
/// files.
void add_weight_errors(Session& session, core::Report& before, core::Report& after);

}  // namespace tmeter::app
