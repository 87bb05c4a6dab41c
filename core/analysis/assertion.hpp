// `--assert EXPR`: a bound that must hold, such as "macs<=5G", "coverage==100%",
// "param_bytes<100MiB".
#pragma once
#include <string>

#include "core/analysis/results.hpp"

namespace tmeter::core {

/// Throws Error(kUsage) when the text is no assertion or names no metric of the results, and
/// Error(kAssertion) when it does not hold, with the actual value.
void check_assertion(const std::string& text, const Results& results);

}  // namespace tmeter::core
