// `--assert EXPR`: a bound that must hold, such as "macs<=5G", "coverage==100%",
// "param_bytes<100MiB".
#pragma once
#include <string>

#include "core/analysis/results.hpp"

namespace tmeter::core {

struct Assertion {
  std::string text, metric, op;
  double bound = 0;
};

/// Throws Error(kUsage) when the text is no assertion; needs no model.
Assertion parse_assertion(const std::string& text);

/// Throws Error(kUsage), naming the nearest, when the results have no such metric: a slip of the
/// user's, to be told before anything is written.
void require_metric(const Assertion& assertion, const Results& results);

/// Throws Error(kAssertion) with the actual value when it does not hold, and what `require_metric`
/// throws.
void check_assertion(const Assertion& assertion, const Results& results);

}  // namespace tmeter::core
