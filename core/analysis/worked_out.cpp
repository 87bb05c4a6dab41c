#include "core/analysis/worked_out.hpp"

namespace tmeter::core {
namespace {

constexpr std::string_view kReplaced = "literals.replaced", kKept = "literals.kept";

}  // namespace

std::string worked_out_note(const Graph& graph) {
  const auto sizes = graph.property("sizes");
  if (sizes.empty()) return {};
  std::string note = "sizes " + std::string(sizes);
  const auto replaced = graph.property(kReplaced), kept = graph.property(kKept);
  if (!replaced.empty() && !kept.empty()) {
    note.append("; of the numbers in the program ").append(replaced);
    note.append(" were worked out again, ").append(kept).append(" kept");
  }
  return note;
}

void mark_worked_out(const Graph& graph, Results& results) {
  const auto note = worked_out_note(graph);
  if (note.empty()) return;
  for (auto& c : results.columns) {
    if (c.axis == TMETER_AXIS_TENSOR || c.provenance == TMETER_PROVENANCE_UNAVAILABLE) continue;
    c.provenance_text += (c.provenance_text.empty() ? "" : "; ") + note;
  }
}

}  // namespace tmeter::core
