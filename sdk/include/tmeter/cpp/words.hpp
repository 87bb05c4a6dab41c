// Deprecated: a helper of tmeter's own plugins, which have it in plugins/common now. It stays,
// unchanged, so that plugins that include it still build; new plugins should not include it.
//
// The notation of numbers and lists of names in findings and warnings.
#pragma once
#include <functional>
#include <string>

#include "units.hpp"

TMETER_SDK_BEGIN

/// "12.3 %" for 0.123
inline std::string percent(double share) { return fixed(100 * share, 1) + " %"; }

/// "1 tensor", "2 tensors"
inline std::string count_of(size_t n, const char* thing) {
  return std::to_string(n) + " " + thing + (n == 1 ? "" : "s");
}

/// "a, b, c and 7 more": the first `most` of `n`.
inline std::string listed(size_t n, size_t most, const std::function<std::string(size_t)>& item) {
  std::string out;
  for (size_t i = 0; i < n && i < most; ++i) out += (i ? ", " : "") + item(i);
  if (n > most) out += " and " + std::to_string(n - most) + " more";
  return out;
}

TMETER_SDK_END
