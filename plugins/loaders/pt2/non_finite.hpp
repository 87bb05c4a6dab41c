// Numbers that are not finite in JSON text. Needs no host.
#pragma once
#include <string>
#include <string_view>

namespace pt2 {

/// torch up to 2.7 writes the bare words Infinity, -Infinity and NaN, which JSON does not have:
/// puts quotes around those outside texts. Returns whether there were any.
bool quote_non_finite(std::string_view text, std::string& repaired);

}  // namespace pt2
