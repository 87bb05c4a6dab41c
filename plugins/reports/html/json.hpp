// Values in the page's form, in JSON that goes into a block while it is written.
#pragma once
#include "../common/json_stream.hpp"
#include "block.hpp"

namespace html_report {

using Json = reports::JsonStream;

/// A count of any size: beyond 2^53, where JavaScript's numbers are inexact, as the text
/// "i9007199254740993".
Json& exact(Json& json, int64_t value);

/// A cell: a number, null if it does not apply, else a text: "?" unknown, "-" unavailable, "0"
/// zero by rule, "^" in a module's value, a count that is too large (`exact`), "nan", "inf",
/// "-inf".
Json& cell(Json& json, const tmeter::Cell& cell);

}  // namespace html_report
