// From the text of a JSON record to its document, in two steps because the first may be tried again
// with a repaired text.
#pragma once
#include "json_util.hpp"

namespace loading {

/// Parses `text` into `document`, which owns everything afterwards. `padded`: 64 readable bytes
/// follow the text (what simdjson asks for); if not, it is copied. Throws BadFile for a text with
/// more values than any model has, std::bad_alloc when there is no memory.
simdjson::error_code parse_json(std::string_view text, bool padded, json::document& document);

/// The same for one padded text after the other; `root` lives until the next.
simdjson::error_code parse_json(std::string_view text, json::parser& parser, json::element& root);

/// The root of what was parsed. Throws BadFile that says why it is no JSON, or names a key that an
/// object has twice: readers disagree about which of the two counts.
json::element require_json(simdjson::error_code error, const json::document& document);
json::element require_json(simdjson::error_code error, json::element root);
/// In the same words, for readers that do without a document.
[[noreturn]] void refuse_repeated(std::string_view key);

}  // namespace loading
