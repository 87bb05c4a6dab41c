#include "document.hpp"

#include <array>

#include "../common/json_text.hpp"

namespace pt2 {
namespace {

constexpr std::array<std::string_view, 3> kNonFinite{"-Infinity", "Infinity", "NaN"};

std::string_view non_finite_at(std::string_view text) {
  for (const auto word : kNonFinite)
    if (text.starts_with(word)) return word;
  return {};
}

/// The position behind the string that begins at `at`.
size_t skip_text(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return at + 1;
}

bool is_empty(json::element list) {
  return list.is_array() ? as_array(list).size() == 0 : as_object(list).size() == 0;
}

/// Reserves the bytes that simdjson reads behind a text.
void pad(std::string& text) { text.reserve(text.size() + simdjson::SIMDJSON_PADDING); }

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

Document::Document(std::string_view bytes, const SplitOptions& options) {
  if (split(bytes, options, skeleton_, extents_)) {
    pad(skeleton_);
    bytes = skeleton_;
  }
  auto error = loading::parse_json(bytes, true, document_);
  std::string repaired;
  if (error && quote_non_finite(bytes, repaired)) {
    pad(repaired);
    error = loading::parse_json(repaired, true, document_);
  }
  root_ = as_object(loading::require_json(error, document_));
}

ChunkedArray Document::array(std::string_view path, json::element found) const {
  const auto extent = extents_.find(path);
  return extent == extents_.end() ? ChunkedArray(found) : ChunkedArray(extent->second);
}

json::element ChunkedArray::PieceParser::parse(const Extent& extent, size_t i) {
  const size_t begin = i == 0 ? 0 : extent.ends[i - 1] + 1;
  const auto piece = extent.text.substr(begin, extent.ends[i] - begin);
  text_.clear();
  text_.reserve(piece.size() + 2 + simdjson::SIMDJSON_PADDING);
  text_ += extent.opening;
  text_ += piece;
  text_ += extent.opening == '[' ? ']' : '}';
  json::element root;
  auto error = loading::parse_json(text_, parser_, root);
  repaired_.clear();
  if (error && quote_non_finite(text_, repaired_)) {
    pad(repaired_);
    error = loading::parse_json(repaired_, parser_, root);
  }
  // A piece without items comes from two commas in a row, or from one before the bracket.
  if (!error && extent.ends.size() > 1 && is_empty(root)) error = simdjson::TAPE_ERROR;
  return loading::require_json(error, root);
}

}  // namespace pt2
