// The lines above and below the table.
#pragma once
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "columns.hpp"
#include "tree.hpp"

namespace text_report {

/// Model, file, format, inputs with their shapes, and the origin of shapes that the file does not
/// record.
std::vector<Text> header(const tmeter::Report& report, size_t width);

// Below the table: exact totals, coverage, conventions, provenance, warnings.

/// Columns that the table lacks.
struct Omissions {
  std::vector<std::string> no_room;
  std::vector<size_t> no_values;  // by index into Columns::shown
  size_t width = 0;               // of the table
};

/// `curves`: drawn tables, above the findings.
std::vector<Text> footer(const tmeter::Report& report, const Columns& columns, const Tree& tree,
                         const Omissions& omissions, const View& view, std::vector<Text> curves,
                         size_t width);

// The findings, below the totals.

/// Most severe first. An info of a plugin whose columns are chosen by default is for -v; another
/// info takes one line, others a paragraph of text, evidence, changes and action. If one rule
/// has many findings, the first few and the number of the others. No line is wider than `width` (0:
/// no limit). A summary has only severity and text.
std::vector<Text> finding_lines(const tmeter::Report& report, const Columns& columns,
                                const View& view, size_t width);

// Notes: the convention and provenance of each metric, and tied tensors, which count once.

struct MetricNotes {
  std::vector<Text> lines;
  bool hidden;  // whether notes are left out
};

/// "FLOPs: torch: 1 MAC = 2 FLOPs", "energy: estimated by …". Metrics with the same note share a
/// line. Unless `all`, fixed conventions are left out.
MetricNotes metric_notes(const tmeter::Report& report, const Columns& columns, bool all);

/// "MACs, FLOPs: unavailable: the file holds weights only".
std::vector<Text> unavailable_notes(const Columns& columns, const View& view);

/// Tensors that are tied to an earlier one.
std::vector<tmeter::Tensor> tied_tensors(const tmeter::Graph& graph);

/// "† tied, counted once: lm_head.weight = embed.weight"; empty without tied tensors.
Text tie_note(const std::vector<tmeter::Tensor>& ties);

}  // namespace text_report
