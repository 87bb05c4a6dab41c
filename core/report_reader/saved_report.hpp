// Reads a report back from the JSON of the writer "json", so that every writer, --assert and
// comparisons work without the model.
//
// The file is untrusted, like a model. It is mapped and parsed row by row, so memory depends on the
// content of the report and not on its formatting. The GraphBuilder makes its graph, with the
// limits of core/ir/limits.hpp.
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

/// Whether a file is a saved report, possibly a damaged one, judged by its first bytes.
bool is_saved_report(std::string_view bytes);

}  // namespace tmeter::core
