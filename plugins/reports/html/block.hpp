// The data of the page: blocks, and the values in them.
#pragma once
#include <zlib.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tmeter/cpp/report.hpp>
#include <vector>

#include "../common/json_stream.hpp"

namespace html_report {

// A block of the page that holds data: JSON, deflated, in base64, inside a <script> element of a
// type that no browser runs. No base64 character can end the element, so names from a model file
// always stay data.

class Block {
 public:
  /// Opens <script id="tmeter-NAME">; the page finds it by this id.
  Block(tmeter::Output& out, std::string_view name);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  void write(std::string_view text);
  /// Ends the element; nothing can be written afterwards. A block is left unfinished only if its
  /// writer throws.
  void finish();

 private:
  void deflate_some(std::string_view text, int flush);
  void put_base64(bool last);

  tmeter::Output& out_;
  z_stream zlib_{};
  std::string compressed_;  // not yet in base64
};

// Values in the page's form, in JSON that goes into a block while it is written.

using Json = reports::JsonStream;

/// A count of any size: beyond 2^53, where JavaScript's numbers are inexact, as the text
/// "i9007199254740993".
Json& exact(Json& json, int64_t value);

/// A cell: a number, null if it does not apply, else a text: "?" unknown, "-" unavailable, "0"
/// zero by rule, "^" in a module's value, a count that is too large (`exact`), "nan", "inf",
/// "-inf".
Json& cell(Json& json, const tmeter::Cell& cell);

// Writes each distinct text of a column once; the column becomes indices of texts.

class Dictionary {
 public:
  size_t index_of(std::string_view text) {
    if (const auto entry = index_.find(text); entry != index_.end()) return entry->second;
    const auto it = index_.emplace(text, texts_.size()).first;
    texts_.push_back(it->first);  // keys of a node-based map do not move
    return it->second;
  }
  void write(Json& json) const {
    json.open('[');
    for (const auto text : texts_) json.text(text);
    json.close(']');
  }

 private:
  std::map<std::string, size_t, std::less<>> index_;
  std::vector<std::string_view> texts_;
};

/// {"at": [index of each item's text], "texts": […]}
template <class Items, class TextOf>
void write_texts(Json& json, std::string_view key, const Items& items, TextOf&& text_of) {
  Dictionary dictionary;
  json.key(key).open('{').key("at").open('[');
  for (const auto& item : items) json.natural(dictionary.index_of(text_of(item)));
  json.close(']').key("texts");
  dictionary.write(json);
  json.close('}');
}

/// [number of each item]
template <class Items, class NumberOf>
void write_numbers(Json& json, std::string_view key, const Items& items, NumberOf&& number_of) {
  json.key(key).open('[');
  for (const auto& item : items) exact(json, number_of(item));
  json.close(']');
}

}  // namespace html_report
