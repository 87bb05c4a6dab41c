// The natural order of names: "layers.2" before "layers.10". Loaders of weights list
// tensors in it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base.hpp"

TMETER_SDK_BEGIN

namespace natural_order {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Removes the digits at the start of `text` and returns them.
inline std::string_view take_number(std::string_view& text) {
  size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  const auto digits = text.substr(0, count);
  text.remove_prefix(digits.size());
  return digits;
}

inline std::string_view without_zeros(std::string_view digits) {
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
}

/// The length of the common beginning. Compares whole words first, because names share dozens of
/// bytes.
inline size_t same_bytes(std::string_view a, std::string_view b) {
  const auto shorter = std::min(a.size(), b.size());
  size_t i = 0;
  for (uint64_t x = 0, y = 0; i + sizeof x <= shorter; i += sizeof x) {
    std::memcpy(&x, a.data() + i, sizeof x);
    std::memcpy(&y, b.data() + i, sizeof y);
    if (x != y) break;
  }
  while (i < shorter && a[i] == b[i]) ++i;
  return i;
}

/// natural_less() of strings that share `same` bytes at their beginnings.
inline bool less_behind(size_t same, std::string_view a, std::string_view b) {
  while (same > 0 && is_digit(a[same - 1])) --same;  // do not split a number
  a.remove_prefix(same), b.remove_prefix(same);
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const auto digits_a = take_number(a), digits_b = take_number(b);
      const auto x = without_zeros(digits_a), y = without_zeros(digits_b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (const int order = x.compare(y); order != 0) return order < 0;
      // Names with a common beginning stay together.
      if (digits_a.size() != digits_b.size()) return digits_a.size() < digits_b.size();
    } else {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1), b.remove_prefix(1);
    }
  }
  return a.empty() && !b.empty();
}

}  // namespace natural_order

inline bool natural_less(std::string_view a, std::string_view b) {
  return natural_order::less_behind(natural_order::same_bytes(a, b), a, b);
}

TMETER_SDK_END
