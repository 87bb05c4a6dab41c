// Parses JSON in two steps, so that the first may be repeated with a repaired text.
#pragma once
#include "json_util.hpp"

namespace loading {

/// Parses `text` into `document`, which then owns everything. If `padded`, 64 readable bytes must
/// follow the text; otherwise it is copied. Throws BadFile for a text with more values than any
/// model has, and std::bad_alloc.
simdjson::error_code parse_json(std::string_view text, bool padded, json::document& document);

/// The same for a sequence of padded texts. `root` lives until the next call.
simdjson::error_code parse_json(std::string_view text, json::parser& parser, json::element& root);

/// The root of a parsed text. Throws BadFile for malformed JSON, and for a key that occurs twice in
/// an object: readers disagree about which one counts.
json::element require_json(simdjson::error_code error, const json::document& document);
json::element require_json(simdjson::error_code error, json::element root);
/// Throws the BadFile of a repeated key.
[[noreturn]] void refuse_repeated(std::string_view key);

}  // namespace loading
