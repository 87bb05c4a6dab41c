// The two drawings.
#pragma once
#include "label.hpp"

namespace dot_report {

/// The module tree. Runs of identical siblings are drawn once, with a count at their edge.
void write_modules(const tmeter::Report& report, const Options& options, reports::Buffer& out);

/// Operators and the tensors between them, in boxes by module.
void write_operators(const tmeter::Report& report, const Options& options, reports::Buffer& out);

/// The label of the whole graph: model, what was left out, legend.
void write_caption(const tmeter::Report& report, const Look& look, size_t left_out,
                   std::string_view things, reports::Buffer& out);

}  // namespace dot_report
