// Whether a text from the file is UTF-8: names go into reports, which are.
#pragma once
#include <cstdint>
#include <string_view>

namespace loading {

/// Well-formed UTF-8 as in Unicode 15, table 3-7: no overlong forms, no surrogates.
inline bool is_utf8(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  for (size_t i = 0; i < text.size();) {
    const uint8_t first = byte(i);
    if (first < 0x80) {
      ++i;
      continue;
    }
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() - i < length) return false;
    const uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (byte(i + 1) < low || byte(i + 1) > high) return false;
    for (size_t k = 2; k < length; ++k)
      if ((byte(i + k) & 0xc0) != 0x80) return false;
    i += length;
  }
  return true;
}

}  // namespace loading
