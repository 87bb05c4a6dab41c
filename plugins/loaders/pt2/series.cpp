#include "series.hpp"

#include "../common/json_text.hpp"
#include "non_finite.hpp"

namespace pt2 {
namespace {

bool is_empty(json::element list) {
  return list.is_array() ? as_array(list).size() == 0 : as_object(list).size() == 0;
}

}  // namespace

json::element Series::Piece::parse(const Extent& extent, size_t i, bool check) {
  const auto piece = text_of(extent, i);
  text_.clear();
  text_.reserve(piece.size() + 2 + simdjson::SIMDJSON_PADDING);
  text_ += extent.opening;
  text_ += piece;
  text_ += extent.opening == '[' ? ']' : '}';
  json::element root;
  auto error = loading::parse_json(text_, parser_, root);
  repaired_.clear();
  if (error && quote_non_finite(text_, repaired_)) {
    repaired_.reserve(repaired_.size() + simdjson::SIMDJSON_PADDING);
    error = loading::parse_json(repaired_, parser_, root);
  }
  // Between two commas, or behind the last one, nothing is no list.
  if (!error && extent.ends.size() > 1 && is_empty(root)) error = simdjson::TAPE_ERROR;
  return !error && !check ? root : loading::require_json(error, root);
}

}  // namespace pt2
