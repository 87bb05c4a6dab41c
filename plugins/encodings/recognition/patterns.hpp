// Regular expressions in quantization_config. They are not run: shapes show which weights are
// packed.
#pragma once
#include <string_view>

namespace packed {

/// The reason why Python's `re` refuses the pattern; empty: it does not. Sees brackets, groups,
/// backslashes and repeats.
std::string_view fault_of_pattern(std::string_view pattern);

}  // namespace packed
