#include "core/report_reader/document.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/report_reader/json_value.hpp"

namespace tmeter::core::report_reader {
namespace {

constexpr std::string_view kSchema = "tmeter-report/1";

void require_schema(std::string_view schema) {
  if (schema == kSchema) return;
  const auto name = "'" + printable(schema) + "'";
  if (schema.starts_with("tmeter-report/"))
    refuse("this report has the schema " + name + "; this tmeter reads " + std::string(kSchema) +
           ", so a newer one is needed");
  refuse("this has the schema " + name + ", and is not a report; reports have " +
         std::string(kSchema));
}

template <class Read>
void with_location(std::string_view section, const std::string& place, Read&& read) {
  try {
    read();
  } catch (const Error& e) {
    throw Error(e.kind(), std::string(section) + place + ": " + e.what());
  }
}

}  // namespace

Document::Document(std::string_view text) : parser_(text) {
  for_each_member(text, [&](std::string_view quoted, std::string_view value) {
    const std::string key(parser_.parse(quoted, "key").text());
    if (!sections_.emplace(key, value).second)
      refuse("the key '" + printable(key) +
             "' occurs twice, and readers disagree about which one counts");
  });
  if (!has("schema"))
    refuse(
        "not a tmeter report: it has no 'schema'; `tmeter MODEL --report json=FILE` "
        "writes one");
  require_schema(whole("schema").text());
}

const std::string_view* Document::find(std::string_view section) const {
  const auto it = sections_.find(section);
  return it == sections_.end() || it->second == "null" ? nullptr : &it->second;
}

Item Document::whole(std::string_view section) {
  const auto* text = find(section);
  if (!text) refuse("there is no '" + std::string(section) + "'");
  return parser_.parse(*text, section);
}

void Document::rows(std::string_view section, const std::function<void(size_t, const Item&)>& row) {
  const auto* text = find(section);
  if (!text) return;
  size_t i = 0;
  with_location(section, "", [&] {
    if (!text->starts_with('[')) refuse("a list is expected");
  });
  for_each_item(*text, [&](std::string_view piece) {
    with_location(section, "[" + std::to_string(i) + "]",
                  [&] { row(i, parser_.parse(piece, section)); });
    ++i;
  });
}

bool begins_with_schema(std::string_view text) {
  constexpr std::string_view kSpaces = " \n\r\t";
  const auto take = [&](std::string_view word) {
    text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    return true;
  };
  return take("{") && take("\"schema\"") && take(":") && take("\"tmeter-");
}

}  // namespace tmeter::core::report_reader
