#include "document.hpp"

#include "../common/json_text.hpp"

namespace pt2 {
namespace {

bool is_empty(json::element list) {
  return list.is_array() ? as_array(list).size() == 0 : as_object(list).size() == 0;
}

/// Reserves the bytes that simdjson reads after a text.
void pad(std::string& text) { text.reserve(text.size() + simdjson::SIMDJSON_PADDING); }

}  // namespace

Document::Document(std::string_view bytes, const SplitOptions& options) {
  if (split(bytes, options, skeleton_, extents_)) {
    pad(skeleton_);
    bytes = skeleton_;
  }
  const auto error = loading::parse_json(bytes, true, document_);
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
  // A piece without items comes from two commas in a row, or from one before the bracket.
  if (!error && extent.ends.size() > 1 && is_empty(root)) error = simdjson::TAPE_ERROR;
  return loading::require_json(error, root);
}

}  // namespace pt2
