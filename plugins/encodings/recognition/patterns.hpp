// Regular expressions in quantization_config. None is run: shapes tell which weights are packed.
#pragma once
#include <string_view>

namespace packed {

/// Why Python's `re` does not take the pattern; empty if it does. Sees brackets, groups,
/// backslashes and repeats.
std::string_view fault_of_pattern(std::string_view pattern);

}  // namespace packed
