// Validation of UTF-8 texts from files, for reports and messages.
#pragma once
#include <cstdint>
#include <string_view>

namespace loading {

/// Length of the sequence at the start of the non-empty `text`; 0 if it is malformed by Unicode 15,
/// table 3-7 (overlong forms, surrogates).
inline size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  const uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return 0;
  for (size_t k = 2; k < length; ++k)
    if ((byte(k) & 0xc0) != 0x80) return 0;
  return length;
}

inline bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// Whether a message may contain the character (one UTF-8 sequence). Excludes control characters
/// (C0, C1, DEL), line ends and changes of text direction.
inline bool is_printable(std::string_view character) {
  if (character.size() == 1)
    return static_cast<uint8_t>(character[0]) >= 0x20 && character[0] != 0x7f;
  if (character.starts_with('\xc2')) return static_cast<uint8_t>(character[1]) >= 0xa0;
  for (const std::string_view prefix : {"\xe2\x80\x8e", "\xe2\x80\x8f", "\xd8\x9c"})
    if (character == prefix) return false;
  const bool lines_and_directions = character >= "\xe2\x80\xa8" && character <= "\xe2\x80\xae";
  const bool isolates = character >= "\xe2\x81\xa6" && character <= "\xe2\x81\xa9";
  return !lines_and_directions && !isolates;
}

}  // namespace loading
