// Repeats drawn once: "repeat 12 ×" with one of the twelve below it.
#pragma once
#include <tmeter/cpp/report.hpp>

#include "columns.hpp"
#include "tree.hpp"

namespace text_report {

/// Folds runs of identical siblings among `children`, the branches of the children of `parent`.
/// Only runs that are alike in everything that is shown, and only where that makes fewer rows. The
/// row of a run has the figures of all its repetitions, so that columns still add up.
void fold_repeats(const tmeter::Report& report, const tmeter::Module& parent,
                  const Columns& columns, std::vector<Branch>& children);

}  // namespace text_report
