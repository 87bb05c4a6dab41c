// Writes each distinct text of a column once; the column becomes indices of texts.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "json.hpp"

namespace html_report {

class Dictionary {
 public:
  size_t index_of(std::string_view text) {
    const auto [it, is_new] = index_.try_emplace(std::string(text), texts_.size());
    if (is_new) texts_.push_back(it->first);  // keys of a node-based map do not move
    return it->second;
  }
  void write(Json& json) const {
    json.open('[');
    for (const auto text : texts_) json.text(text);
    json.close(']');
  }

 private:
  std::unordered_map<std::string, size_t> index_;
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
