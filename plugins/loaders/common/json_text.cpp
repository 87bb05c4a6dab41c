#include "json_text.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <tmeter/cpp/text_hash.hpp>
#include <utility>
#include <vector>

namespace loading {
namespace {

// A comma or colon precedes every value but the first. A value takes 16 bytes of memory, even if it
// is two bytes of text. A graph of 100,000 operators has twelve million of them in 157 MB.
constexpr size_t kMaxValues = 30'000'000;

void check_values(std::string_view text) {
  if (text.size() < 2 * kMaxValues) return;  // a value takes at least one character
  const auto count = [&](char c) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), c));
  };
  const auto values = count(',') + count(':');
  if (values > kMaxValues)
    throw BadFile("it has " + std::to_string(values) +
                  " commas and colons; tmeter accepts 30,000,000");
}

void check_keys(json::element value);

bool holds_keys(json::element value) { return value.is_object() || value.is_array(); }

/// One of 64 bits. The keys of an object mostly have different ones.
uint64_t bit_of(std::string_view key) {
  if (key.empty()) return 1;
  const auto first = static_cast<unsigned char>(key.front()),
             last = static_cast<unsigned char>(key.back());
  return uint64_t{1} << ((key.size() * 7 + first * 3 + last) % 64);
}

/// Compares each key with its predecessors, if the bits say that one may be equal.
template <size_t N>
class FewKeys {
 public:
  /// False if the key was there before.
  bool add(std::string_view key) {
    const auto bit = bit_of(key);
    if (bits_ & bit)
      for (size_t i = 0; i < count_; ++i)
        if (std::string_view(seen_[i].text, seen_[i].size) == key) return false;
    bits_ |= bit;
    seen_[count_++] = {key.data(), key.size()};
    return true;
  }

 private:
  struct Key {
    const char* text;
    size_t size;
  };
  Key seen_[N];  // not cleared: most objects are small, and there is one for every argument
  size_t count_ = 0;
  uint64_t bits_ = 0;
};

/// Whether each key is greater than the one before it, as most writers sort them: none occurs
/// twice.
bool ascends(json::object object) {
  std::string_view last;
  bool is_first = true;
  for (const auto field : object) {
    if (!std::exchange(is_first, false) && field.key <= last) return false;
    last = field.key;
  }
  return true;
}

/// Texts are compared only where two hashes are equal.
void check_many(json::object object) {
  if (ascends(object)) return;
  std::vector<size_t> hashes;
  hashes.reserve(object.size());
  for (const auto field : object) hashes.push_back(tmeter::TextHash()(field.key));
  std::sort(hashes.begin(), hashes.end());
  if (std::adjacent_find(hashes.begin(), hashes.end()) == hashes.end()) return;
  std::vector<std::string_view> keys;
  for (const auto field : object) keys.push_back(field.key);
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice != keys.end()) refuse_repeated(*twice);
}

void check_object(json::object object) {
  constexpr size_t kMaxComparedKeys = 16;
  const auto keys = object.size();
  const bool has_few = keys > 1 && keys <= kMaxComparedKeys;
  if (keys > kMaxComparedKeys) check_many(object);
  FewKeys<kMaxComparedKeys> few;
  auto field = object.begin();
  const bool is_good = within([&] { return in_quotes(field.key()); },
                              [&] {
                                for (const auto end = object.end(); field != end; ++field) {
                                  if (has_few && !few.add(field.key())) return false;
                                  const json::element value = field.value();
                                  if (holds_keys(value)) check_keys(value);
                                }
                                return true;
                              });
  if (!is_good) refuse_repeated(field.key());
}

void check_keys(json::element value) {
  if (value.is_object()) return check_object(value);
  if (!value.is_array()) return;
  for (const json::element item : json::array(value)) check_keys(item);
}

}  // namespace

void refuse_repeated(std::string_view key) {
  throw BadFile("the key " + in_quotes(key) +
                " occurs twice, and readers disagree about which one counts");
}

simdjson::error_code parse_json(std::string_view text, bool padded, json::document& document) {
  check_values(text);
  json::parser parser;  // frees its working memory on return
  json::element root;
  const auto error =
      parser.parse_into_document(document, text.data(), text.size(), !padded).get(root);
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  return error;
}

simdjson::error_code parse_json(std::string_view text, json::parser& parser, json::element& root) {
  check_values(text);
  const auto error = parser.parse(text.data(), text.size(), false).get(root);
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  return error;
}

json::element require_json(simdjson::error_code error, json::element root) {
  if (error) throw BadFile("this is not valid JSON: " + explain(error));
  check_keys(root);
  return root;
}

json::element require_json(simdjson::error_code error, const json::document& document) {
  return require_json(error, error ? json::element() : document.root());
}

}  // namespace loading
