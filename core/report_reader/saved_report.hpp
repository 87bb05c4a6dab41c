// Reads a report back from the JSON of the writer "json", so that every writer, --assert and
// comparisons work without the model.
//
// The file is hostile until proved otherwise, like a model: it is mapped, taken apart row by row
// (memory grows with what the report holds, not with how it is written), and its graph is built by
// the GraphBuilder, with the limits of core/ir/limits.hpp.
#pragma once
#include <memory>
#include <string_view>

#include "core/report/report.hpp"

namespace tmeter::core {

struct SavedReport {
  std::unique_ptr<Graph> graph;
  Report report;  // of this graph
};

/// Throws Error(kModel) that says what is wrong and where: "nodes[17]: there is no 'op'". Unknown
/// members are ignored; members that an older tmeter did not write may be absent.
SavedReport read_report(std::string_view json);

/// Whether a file is a saved report (or a damaged one), by how it begins.
bool is_saved_report(std::string_view bytes);

}  // namespace tmeter::core
