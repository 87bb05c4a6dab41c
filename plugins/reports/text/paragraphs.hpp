// The lines above and below the table.
#pragma once
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "columns.hpp"
#include "tree.hpp"

namespace text_report {

/// Model, file, format, inputs with their shapes, and where shapes come from unless the file
/// records them.
std::vector<Text> header(const tmeter::Report& report, size_t width);

// Can it be trusted: exact totals, coverage, conventions, provenance, warnings. The lines below the
// table.

/// What the table does not show.
struct Omissions {
  std::vector<tmeter::Metric> no_room;
  std::vector<size_t> no_figures;  // by index into Columns::shown
  size_t width = 0;                // there was
};

std::vector<Text> footer(const tmeter::Report& report, const Columns& columns, const Tree& tree,
                         const Omissions& omissions, const View& view, size_t width);

// What analyses have to say in words: below the totals, most severe first.

/// Most severe first. Severity, text, evidence, what it would change, what to do: a line for what
/// is worth knowing, a paragraph for what asks for something to be done. Of many findings of one
/// rule the first few, and how many more there are. No line is wider than `width` (0: no limit).
std::vector<Text> finding_lines(const tmeter::Report& report, size_t width);

// Explanations: by which convention each metric counts, where its figures are from, and what is
// counted once though it appears twice.

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
