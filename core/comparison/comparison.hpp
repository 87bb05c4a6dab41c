// Two reports compared: which module of one is which of the other, and what differs.
#pragma once
#include "core/report/report.hpp"

namespace tmeter::core {

/// Modules are the same when their paths are; under parents that are the same, those that are left
/// over on both sides when they are built alike (or, being the only ones of their kind, nearly so);
/// anywhere in the tree when everything inside is. Both reports must outlive the comparison.
Comparison compare(const Report& before, const Report& after);

/// `diff.macs <= +2%`, `module("layer4").diff.params < 0`: evaluated over the comparison that
/// `after` has; others over `after` alone. Throws Error(kUsage) for names that are not there.
AssertionResult evaluate_change(const Assertion& assertion, const Report& after);

}  // namespace tmeter::core
