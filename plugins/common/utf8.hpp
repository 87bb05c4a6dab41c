// Makes text from model files harmless: names may contain any bytes and have any length.
#pragma once
#include <string>
#include <string_view>
#include <tmeter/cpp/utf8.hpp>

namespace plugins {

using tmeter::decode_utf8;
using tmeter::kInvalidUtf8;

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// Safe to print: invalid UTF-8 and control characters become U+FFFD; tabs and line ends become
/// spaces.
std::string printable(std::string_view text);

/// Valid UTF-8: invalid bytes become U+FFFD, everything else stays.
std::string repaired(std::string_view text);

/// At most `limit` characters; the rest is replaced by "…".
std::string shortened(std::string_view text, size_t limit);

/// A name for people: printable and not longer than kReadableName characters.
inline constexpr size_t kReadableName = 160;
inline std::string readable(std::string_view text) {
  return shortened(printable(text.substr(0, 8 * kReadableName)), kReadableName);
}

/// Calls `visit` with the code (kInvalidUtf8 for a malformed byte) and the bytes of each character.
template <class Visit>
void for_each_character(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const auto [code, bytes] = decode_utf8(text);
    visit(code, text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
}

}  // namespace plugins
