#include "utf8.hpp"

#include <algorithm>
#include <array>

namespace reports {
namespace {

// C0 without tab and line ends, DEL, C1; characters that reorder what follows.
constexpr std::array<std::array<char32_t, 2>, 6> kUnsafe{
    {{0x00, 0x08}, {0x0B, 0x0C}, {0x0E, 0x1F}, {0x7F, 0x9F}, {0x202A, 0x202E}, {0x2066, 0x2069}}};

bool is_unsafe(char32_t code) {
  return std::any_of(kUnsafe.begin(), kUnsafe.end(),
                     [code](const auto& range) { return code >= range[0] && code <= range[1]; });
}

bool plain_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

}  // namespace

Decoded decode(std::string_view s) {
  static constexpr std::array<char32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(s[0]);
  if (lead < 0x80) return {lead, 1};
  const size_t n = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || s.size() < n) return {kInvalid, 1};
  char32_t code = lead & (0xFF >> (n + 1));
  for (size_t i = 1; i < n; ++i) {
    const auto c = static_cast<unsigned char>(s[i]);
    if ((c & 0xC0) != 0x80) return {kInvalid, 1};
    code = code << 6 | (c & 0x3F);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kSmallest[n] || surrogate || code > 0x10FFFF) return {kInvalid, 1};
  return {code, n};
}

std::string printable(std::string_view text) {
  if (plain_ascii(text)) return std::string(text);
  std::string out;
  for_each_character(text, [&out](char32_t code, std::string_view bytes) {
    if (code == '\t' || code == '\n' || code == '\r')
      out += ' ';
    else
      out += code == kInvalid || is_unsafe(code) ? kReplacement : bytes;
  });
  return out;
}

std::string repaired(std::string_view text) {
  if (plain_ascii(text)) return std::string(text);
  std::string out;
  for_each_character(text, [&out](char32_t code, std::string_view bytes) {
    out += code == kInvalid ? kReplacement : bytes;
  });
  return out;
}

std::string shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  size_t at = 0, end = 0;  // `end`: where to cut when the text turns out to be longer
  for (size_t n = 0; at < text.size(); ++n) {
    if (n + 1 == most) end = at;
    if (n == most) return std::string(text.substr(0, end)).append("…");
    at += decode(text.substr(at)).bytes;
  }
  return std::string(text);
}

}  // namespace reports
