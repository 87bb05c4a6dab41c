// Bounded parsing of JSON, including Python's additions.
#pragma once
#include "json_util.hpp"

namespace loading {

enum class Dialect { kPython, kStrict };

/// Parses `text` into `document`, which then owns everything; Python's additions to JSON are
/// replaced (replace_additions_of_python), unless they are to be refused. If `padded`, 64 readable
/// bytes must follow the text; otherwise it is copied. Throws BadFile for a text with more values
/// than any model has, and std::bad_alloc.
simdjson::error_code parse_json(std::string_view text, bool padded, json::document& document,
                                Dialect dialect = Dialect::kPython);

/// The same for a sequence of padded texts. `root` lives until the next call.
simdjson::error_code parse_json(std::string_view text, json::parser& parser, json::element& root);

/// The root of a parsed text. Throws BadFile for malformed JSON, and for a key that occurs twice in
/// an object: readers disagree about which one counts.
json::element require_json(simdjson::error_code error, const json::document& document);
json::element require_json(simdjson::error_code error, json::element root);
/// Python's json writes what JSON and simdjson lack: the bare words Infinity, -Infinity and NaN,
/// which become strings here, and integers of more than 64 bits, which become reals. Returns
/// whether there were any; then `out` has the whole text.
bool replace_additions_of_python(std::string_view text, std::string& out);

/// Throws the BadFile of a repeated key.
[[noreturn]] void refuse_repeated(std::string_view key);

}  // namespace loading
