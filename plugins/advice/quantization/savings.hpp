// What a plan saves on the hardware the user named, from the figures of its profile.
#pragma once
#include "findings.hpp"

namespace quantization {

/// Says nothing when no hardware was named, nor of figures its profile does not have.
void report_savings(const Collection& reports, const Plan& plan, const tmeter::Graph& graph,
                    tmeter::Call& call);

}  // namespace quantization
