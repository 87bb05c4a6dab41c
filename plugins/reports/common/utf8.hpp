// Names come from model files: any bytes, any length. How every writer makes them harmless.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace reports {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
inline constexpr char32_t kInvalid = 0xFFFFFFFF;

struct Decoded {
  char32_t code;  // kInvalid when the bytes are no UTF-8
  size_t bytes;
};

/// The first character of a text that is not empty. RFC 3629: no overlong forms, no surrogates,
/// nothing beyond U+10FFFF.
Decoded decode(std::string_view text);

/// Safe to print: invalid UTF-8, control characters (a name may hold an escape sequence) and
/// direction overrides become U+FFFD; tabs and line ends become spaces.
std::string printable(std::string_view text);

/// Valid UTF-8: what is not becomes U+FFFD. Everything else stays.
std::string repaired(std::string_view text);

/// At most `most` characters; what is left out is replaced by "…".
std::string shortened(std::string_view text, size_t most);

/// What a person reads of a name: printable, and short enough to read.
inline constexpr size_t kReadableName = 160;
inline std::string readable(std::string_view text) {
  return shortened(printable(text.substr(0, 8 * kReadableName)), kReadableName);
}

/// Walks over a text: `put` gets each character's code (kInvalid for bytes that are none) and its
/// bytes.
template <class Put>
void for_each_character(std::string_view text, Put&& put) {
  while (!text.empty()) {
    const auto [code, bytes] = decode(text);
    put(code, text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
}

}  // namespace reports
