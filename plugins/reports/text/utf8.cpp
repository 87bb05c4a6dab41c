#include "utf8.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace text_report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kEllipsis = "…";
constexpr char32_t kInvalid = 0xFFFFFFFF;

struct Decoded {
  char32_t code;
  size_t bytes;
};

// RFC 3629: no overlong forms, no surrogates, nothing beyond U+10FFFF.
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

struct Range {
  char32_t first, last;
};

template <size_t N>
bool in(const std::array<Range, N>& ranges, char32_t code) {
  const auto it = std::upper_bound(ranges.begin(), ranges.end(), code,
                                   [](char32_t c, const Range& r) { return c < r.first; });
  return it != ranges.begin() && code <= std::prev(it)->last;
}

// Blocks of wide characters, from Unicode's EastAsianWidth.txt (W and F) and the emoji blocks.
constexpr std::array<Range, 12> kWide{{{0x1100, 0x115F},
                                       {0x2E80, 0x303E},
                                       {0x3041, 0x33FF},
                                       {0x3400, 0x4DBF},
                                       {0x4E00, 0x9FFF},
                                       {0xA000, 0xA4CF},
                                       {0xAC00, 0xD7A3},
                                       {0xF900, 0xFAFF},
                                       {0xFE30, 0xFE6F},
                                       {0xFF00, 0xFF60},
                                       {0x1F300, 0x1FAFF},
                                       {0x20000, 0x3FFFD}}};

// Combining marks, zero-width joiners, variation selectors.
constexpr std::array<Range, 7> kZero{{{0x0300, 0x036F},
                                      {0x0483, 0x0489},
                                      {0x0591, 0x05BD},
                                      {0x1AB0, 0x1AFF},
                                      {0x200B, 0x200D},
                                      {0x20D0, 0x20FF},
                                      {0xFE00, 0xFE0F}}};

// C0 without tab and line ends, DEL, C1; characters that reorder what follows.
constexpr std::array<Range, 6> kUnsafe{
    {{0x00, 0x08}, {0x0B, 0x0C}, {0x0E, 0x1F}, {0x7F, 0x9F}, {0x202A, 0x202E}, {0x2066, 0x2069}}};

size_t width_of(char32_t code) {
  if (code < 0x300) return 1;
  return in(kZero, code) ? 0 : in(kWide, code) ? 2 : 1;
}

bool plain_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

}  // namespace

std::string printable(std::string_view text) {
  if (plain_ascii(text)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const auto [code, bytes] = decode(text);
    if (code == '\t' || code == '\n' || code == '\r')
      out += ' ';
    else if (code == kInvalid || in(kUnsafe, code))
      out += kReplacement;
    else
      out += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return out;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const auto [code, bytes] = decode(text);
    width += width_of(code);
    text.remove_prefix(bytes);
  }
  return width;
}

std::string cut_end(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  size_t taken = 0, at = 0;
  while (at < text.size()) {
    const auto [code, bytes] = decode(text.substr(at));
    if (taken + width_of(code) > width - 1) break;
    taken += width_of(code);
    at += bytes;
  }
  return std::string(text.substr(0, at)).append(kEllipsis);
}

std::string cut_start(std::string_view text, size_t width) {
  size_t left = display_width(text);
  if (left <= width) return std::string(text);
  if (width == 0) return {};
  while (left > width - 1) {
    const auto [code, bytes] = decode(text);
    left -= width_of(code);
    text.remove_prefix(bytes);
  }
  return std::string(kEllipsis).append(text);
}

}  // namespace text_report
