#include "non_finite.hpp"

#include <array>

namespace pt2 {
namespace {

constexpr std::array<std::string_view, 3> kNonFinite{"-Infinity", "Infinity", "NaN"};

std::string_view non_finite_at(std::string_view text) {
  for (const auto word : kNonFinite)
    if (text.starts_with(word)) return word;
  return {};
}

/// From an opening quote to behind the closing one.
size_t skip_text(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return at + 1;
}

}  // namespace

bool quote_non_finite(std::string_view text, std::string& repaired) {
  size_t copied = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = skip_text(text, at);
      continue;
    }
    const auto word =
        c == '-' || c == 'I' || c == 'N' ? non_finite_at(text.substr(at)) : std::string_view();
    if (word.empty()) {
      ++at;
      continue;
    }
    repaired.append(text, copied, at - copied).append("\"").append(word).append("\"");
    at += word.size();
    copied = at;
  }
  if (copied > 0) repaired.append(text, copied, text.size() - copied);
  return copied > 0;
}

}  // namespace pt2
