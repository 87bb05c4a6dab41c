// UTF-8 by RFC 3629, and the characters that may be shown: text from files is untrusted,
// and the builder refuses names that are not UTF-8.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base.hpp"

TMETER_SDK_BEGIN

inline constexpr char32_t kInvalidUtf8 = 0xFFFFFFFF;

struct DecodedCharacter {
  char32_t code;  // kInvalidUtf8 for a byte that starts no well-formed sequence
  size_t bytes;   // 1 for an invalid byte
};

/// The first character of a text, which must not be empty. Overlong forms, surrogates and codes
/// beyond U+10FFFF are invalid.
inline DecodedCharacter decode_utf8(std::string_view text) {
  constexpr std::array<char32_t, 5> kSmallestCode{0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {kInvalidUtf8, 1};
  char32_t code = lead & (0xFFu >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return {kInvalidUtf8, 1};
    code = code << 6 | (next & 0x3Fu);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kSmallestCode[bytes] || code > 0x10FFFF || surrogate) return {kInvalidUtf8, 1};
  return {code, bytes};
}

inline bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto [code, bytes] = decode_utf8(text);
    if (code == kInvalidUtf8) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

/// Whether a character controls a terminal or the direction of text: C0, DEL, C1, line and
/// paragraph separators, direction marks, the byte order mark.
inline bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x61C ||
         (code >= 0x200E && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

TMETER_SDK_END
