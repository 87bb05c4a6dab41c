// Reads a report back from the JSON of the writer "json". Writers, --assert and comparisons then
// work without the model.
//
// The file is untrusted, like a model. It is mapped and parsed row by row, so memory depends on the
// content of the report and not on its formatting. GraphBuilder builds its graph, within the limits
// of core/ir/limits.hpp.
#pragma once
#include <memory>
#include <string_view>

#include "core/report/report.hpp"

namespace tmeter::core {

struct SavedReport {
  std::unique_ptr<Graph> graph;
  Report report;  // of this graph
};

/// Throws Error(kModel) with the place and the defect: "nodes[17]: there is no 'op'". Unknown
/// members are ignored. Members that older versions of tmeter did not write may be absent.
SavedReport read_report(std::string_view json);

/// Whether the first bytes of a file are those of a saved report, possibly a damaged one.
bool is_saved_report(std::string_view bytes);

}  // namespace tmeter::core
