// Explanations: by which convention each metric counts, where its figures are from, and what is
// counted once though it appears twice.
#pragma once
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "columns.hpp"
#include "style.hpp"

namespace text_report {

/// "FLOPs: torch convention (1 MAC = 2)", "energy: estimated by …". Metrics that say the same
/// share a line.
std::vector<Text> metric_notes(const Columns& columns);

/// "† tied, counted once: lm_head.weight = embed.weight"; empty when nothing is tied.
Text tie_note(const tmeter::Graph& graph);

}  // namespace text_report
