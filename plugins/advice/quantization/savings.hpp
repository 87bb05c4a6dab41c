// The savings of a plan on the hardware that the user named, by its profile.
#pragma once
#include "findings.hpp"

namespace quantization {

/// Reports nothing without named hardware, nor for values that its profile lacks.
void report_savings(const Collection& reports, const Plan& plan, const tmeter::Graph& graph,
                    tmeter::Call& call);

}  // namespace quantization
