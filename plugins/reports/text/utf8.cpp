#include "utf8.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace text_report {
namespace {

constexpr std::string_view kEllipsis = "…";
using reports::decode;

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

size_t width_of(char32_t code) {
  if (code < 0x300) return 1;
  return in(kZero, code) ? 0 : in(kWide, code) ? 2 : 1;
}

}  // namespace

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
