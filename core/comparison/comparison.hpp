// Compares two reports: matches their modules and lists the differences.
#pragma once
#include "core/report/report.hpp"

namespace tmeter::core {

/// Modules match if their paths are equal. Unmatched children of matched parents match if their
/// structure is equal, or if they are the only ones of their type. Whole modules with equal content
/// match anywhere in the tree. Both reports must outlive the comparison.
Comparison compare(const Report& before, const Report& after);

/// Tensors with the same name and shape in matched modules, by their owners' pairs.
std::vector<std::pair<const Tensor*, const Tensor*>> tensor_pairs(const Report& after);

/// Marks the modules that own these tensors of `after` as having other values.
void mark_changed(Report& after, const std::vector<const Tensor*>& changed);

/// `diff.macs <= +2%`, `module("layer4").diff.params < 0`: evaluated over the comparison of
/// `after`; others over `after` only. Throws Error(kUsage) for unknown names.
AssertionResult evaluate_change(const Assertion& assertion, const Report& after);

}  // namespace tmeter::core
