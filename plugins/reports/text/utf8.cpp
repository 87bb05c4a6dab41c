#include "utf8.hpp"

#include <utf8proc.h>

#include <algorithm>

namespace text_report {
namespace {

constexpr std::string_view kEllipsis = "…";


// The tables are utf8proc's.
size_t width_of(char32_t code) {
  if (code == plugins::kInvalidUtf8) return 1;
  return static_cast<size_t>(utf8proc_charwidth(static_cast<utf8proc_int32_t>(code)));
}

bool is_plain(char c) { return c >= 0x20 && c < 0x7F; }

}  // namespace

size_t display_width(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), is_plain)) return text.size();
  size_t width = 0;
  while (!text.empty()) {
    const auto [code, bytes] = plugins::decode_utf8(text);
    width += width_of(code);
    text.remove_prefix(bytes);
  }
  return width;
}

std::string_view first_columns(std::string_view text, size_t width) {
  size_t taken = 0, at = 0;
  while (at < text.size()) {
    const auto [code, bytes] = plugins::decode_utf8(text.substr(at));
    if (taken + width_of(code) > width) break;
    taken += width_of(code);
    at += bytes;
  }
  return text.substr(0, at);
}

std::string cut_end(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  return std::string(first_columns(text, width - 1)).append(kEllipsis);
}

std::string cut_start(std::string_view text, size_t width) {
  size_t left = display_width(text);
  if (left <= width) return std::string(text);
  if (width == 0) return {};
  while (left > width - 1) {
    const auto [code, bytes] = plugins::decode_utf8(text);
    left -= width_of(code);
    text.remove_prefix(bytes);
  }
  return std::string(kEllipsis).append(text);
}

}  // namespace text_report
