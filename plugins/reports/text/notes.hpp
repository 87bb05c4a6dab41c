// Explanations: by which convention each metric counts, where its figures are from, and what is
// counted once though it appears twice.
#pragma once
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "columns.hpp"
#include "style.hpp"

namespace text_report {

struct MetricNotes {
  std::vector<Text> lines;
  bool hidden;  // there are others
};

/// "FLOPs: torch: 1 MAC = 2 FLOPs", "energy: estimated by …". Metrics that say the same share a
/// line. Unless `all`, what a metric always counts is left out.
MetricNotes metric_notes(const tmeter::Report& report, const Columns& columns, bool all);

/// Tensors that are tied to one before them.
std::vector<tmeter::Tensor> tied_tensors(const tmeter::Graph& graph);

/// "† tied, counted once: lm_head.weight = embed.weight"; empty when nothing is tied.
Text tie_note(const std::vector<tmeter::Tensor>& ties);

}  // namespace text_report
