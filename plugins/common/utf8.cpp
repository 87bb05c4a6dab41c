#include "plugins/common/utf8.hpp"

#include <algorithm>

namespace plugins {
namespace {

bool plain_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

}  // namespace

std::string printable(std::string_view text) {
  if (plain_ascii(text)) return std::string(text);
  std::string out;
  for_each_character(text, [&out](char32_t code, std::string_view bytes) {
    if (code == '\t' || code == '\n' || code == '\r')
      out += ' ';
    else
      out += code == kInvalidUtf8 || tmeter::is_control(code) ? kReplacement : bytes;
  });
  return out;
}

std::string repaired(std::string_view text) {
  if (plain_ascii(text)) return std::string(text);
  std::string out;
  for_each_character(text, [&out](char32_t code, std::string_view bytes) {
    out += code == kInvalidUtf8 ? kReplacement : bytes;
  });
  return out;
}

std::string shortened(std::string_view text, size_t limit) {
  if (text.size() <= limit) return std::string(text);
  size_t at = 0, end = 0;  // `end`: where to cut if the text turns out to be longer
  for (size_t n = 0; at < text.size(); ++n) {
    if (n + 1 == limit) end = at;
    if (n == limit) return std::string(text.substr(0, end)).append("…");
    at += decode_utf8(text.substr(at)).bytes;
  }
  return std::string(text);
}

}  // namespace plugins
