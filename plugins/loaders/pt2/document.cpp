#include "document.hpp"

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

std::string explain(simdjson::error_code code) {
  switch (code) {
    case simdjson::DEPTH_ERROR:
      return "it is nested more than 1,024 levels deep";
    case simdjson::CAPACITY:
      return "it is larger than 4 GiB";
    case simdjson::EMPTY:
      return "it is empty";
    default:
      return simdjson::error_message(code);
  }
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

Document::Document(std::string_view bytes) { root_ = as_object(parse(bytes)); }

json::element Document::parse(std::string_view bytes) {
  json::element root;
  auto error = parser_.parse(bytes.data(), bytes.size(), false).get(root);
  if (error && quote_non_finite(bytes, repaired_)) {
    repaired_.reserve(repaired_.size() + simdjson::SIMDJSON_PADDING);
    error = parser_.parse(repaired_.data(), repaired_.size(), false).get(root);
  }
  if (error) throw BadFile("this is not valid JSON: " + explain(error));
  return root;
}

}  // namespace pt2
