// Splits a JSON text from the outside into the members of an object or the items of a list, so that
// a report is read row by row and never held as a whole. Only brackets and quotes inside a piece
// are checked; parsing it (json_value.hpp) decides whether it is JSON.
#pragma once
#include <functional>
#include <string_view>

namespace tmeter::core::report_reader {

/// Calls `member` with the key, quotes included, and the value. Throws Error(kModel) unless the
/// text is an object.
void for_each_member(
    std::string_view text,
    const std::function<void(std::string_view key, std::string_view value)>& member);

/// The same with the items of a list.
void for_each_item(std::string_view text, const std::function<void(std::string_view item)>& item);

}  // namespace tmeter::core::report_reader
