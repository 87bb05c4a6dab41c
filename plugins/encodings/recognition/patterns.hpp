// Regular expressions in quantization_config. They are not run: shapes show which weights are
// packed.
#pragma once
#include <string_view>

namespace packed {

/// Why Python's `re` refuses the pattern; empty if it accepts it. Checks brackets, groups,
/// backslashes and repeats.
std::string_view pattern_error(std::string_view pattern);

}  // namespace packed
