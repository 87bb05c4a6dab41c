#include "core/base/text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <tmeter/cpp/utf8.hpp>

namespace tmeter::core {

std::string joined(const std::vector<std::string>& items) {
  std::string out;
  for (const auto& i : items) out += (out.empty() ? "" : ", ") + i;
  return out;
}

std::string lower_case(std::string text) {
  for (auto& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find_first_of(separators, begin), text.size());
    if (end > begin) parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool glob_match(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::optional<std::string> bytes_of_hex(std::string_view hex) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (hex.size() % 2 || hex.find_first_not_of(kDigits) != hex.npos) return std::nullopt;
  std::string out;
  for (size_t i = 0; i < hex.size(); i += 2)
    out += static_cast<char>(kDigits.find(hex[i]) * 16 + kDigits.find(hex[i + 1]));
  return out;
}

std::string shape_text(std::span<const int64_t> dims) {
  std::string text = "[";
  for (const auto d : dims) text += (text.size() > 1 ? ", " : "") + std::to_string(d);
  return text + "]";
}

namespace {

std::string spelled(const char* format, uint32_t value) {
  std::array<char, 16> out{};
  std::snprintf(out.data(), out.size(), format, value);
  return out.data();
}

std::string spelled_control(uint32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\r') return "\\r";
  if (code == '\t') return "\\t";
  return spelled(code < 0x100 ? "\\x%02x" : "\\u%04x", code);
}

/// The number of printable ASCII characters at the start of `text`, usually all of it.
size_t plain_length(std::string_view text) {
  const auto other =
      std::find_if(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c > 0x7E; });
  return static_cast<size_t>(other - text.begin());
}

/// Length of "\x1b[1;31m" at the start of `text`, 0 when it does not begin with a colour.
size_t color_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const auto end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && end < 32 && text[end] == 'm' ? end + 1 : 0;
}

/// Moves the first character of `text` to `out`, escaped if necessary.
void move_character(std::string_view& text, std::string& out) {
  const auto [code, bytes] = decode_utf8(text);
  if (code == kInvalidUtf8) {
    out += spelled("\\x%02x", static_cast<unsigned char>(text[0]));
  } else if (is_control(code)) {
    out += spelled_control(code);
  } else {
    out += text.substr(0, bytes);
  }
  text.remove_prefix(bytes);
}

}  // namespace

std::string visible(std::string_view text, size_t limit) {
  if (text.size() <= limit && plain_length(text) == text.size()) return std::string(text);
  std::string out;
  const size_t size = text.size();
  while (!text.empty() && size - text.size() < limit) move_character(text, out);
  if (!text.empty()) out += "…";
  return out;
}

std::string terminal_safe(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const bool layout = text[0] == '\n' || text[0] == '\t';
    const size_t kept = layout ? 1 : std::max(plain_length(text), color_length(text));
    if (kept == 0) {
      move_character(text, out);
      continue;
    }
    out += text.substr(0, kept);
    text.remove_prefix(kept);
  }
  return out;
}

size_t complete_prefix_length(std::string_view text) {
  constexpr size_t kMaxColorBytes = 32;  // the limit of color_length
  const auto escape = text.rfind('\x1b');
  if (escape != text.npos && text.size() - escape < kMaxColorBytes) {
    const auto begun = text.substr(escape);
    const bool torn = begun.size() == 1 ||
                      (begun[1] == '[' && begun.find_first_not_of("0123456789;", 2) == begun.npos);
    if (torn) return escape;
  }
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) break;
    if (byte < 0xC0) continue;
    const size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    return length > back ? text.size() - back : text.size();
  }
  return text.size();
}

}  // namespace tmeter::core
