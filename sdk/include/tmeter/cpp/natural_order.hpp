// The order in which a person lists names: "layers.2" before "layers.10". Loaders of weights list
// tensors in it.
#pragma once
#include <algorithm>
#include <string_view>

#include "base.hpp"

TMETER_SDK_BEGIN

namespace natural_order {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Removes the digits at the start of `text` and returns them without leading zeros.
inline std::string_view take_number(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  auto digits = text.substr(0, static_cast<size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

}  // namespace natural_order

inline bool natural_less(std::string_view a, std::string_view b) {
  const auto whole_a = a, whole_b = b;
  // Names share long beginnings: on to the first difference, but not into a number.
  const auto shorter = std::min(a.size(), b.size());
  auto same = static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(shorter), b.begin()).first -
      a.begin());
  while (same > 0 && natural_order::is_digit(a[same - 1])) --same;
  a.remove_prefix(same), b.remove_prefix(same);
  while (!a.empty() && !b.empty()) {
    if (natural_order::is_digit(a.front()) && natural_order::is_digit(b.front())) {
      const auto x = natural_order::take_number(a), y = natural_order::take_number(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1), b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;  // they differ in leading zeros alone
}

TMETER_SDK_END
