#include "json_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
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

/// One of 64 bits. The keys of an object mostly have different bits.
uint64_t bit_of(std::string_view key) {
  if (key.empty()) return 1;
  const auto first = static_cast<unsigned char>(key.front()),
             last = static_cast<unsigned char>(key.back());
  return uint64_t{1} << ((key.size() * 7 + first * 3 + last) % 64);
}

/// Compares each key with its predecessors, if the bits say that one may be equal.
template <size_t N>
class SmallKeySet {
 public:
  /// False for a duplicate key.
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
  Key seen_[N];  // not cleared, because most objects are small and each argument has one
  size_t count_ = 0;
  uint64_t bits_ = 0;
};

/// Whether each key is greater than the previous one, so none occurs twice. Most writers sort keys.
bool ascends(json::object object) {
  std::string_view last;
  bool is_first = true;
  for (const auto field : object) {
    if (!std::exchange(is_first, false) && field.key <= last) return false;
    last = field.key;
  }
  return true;
}

/// Strings are compared only where two hashes are equal.
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
  SmallKeySet<kMaxComparedKeys> few;
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

constexpr std::array<std::string_view, 3> kNonFinite{"-Infinity", "Infinity", "NaN"};

std::string_view non_finite_at(std::string_view text) {
  for (const auto word : kNonFinite)
    if (text.starts_with(word)) return word;
  return {};
}

/// The position after the string that begins at `at`.
size_t skip_text(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return at + 1;
}

bool is_integer_beyond_64_bits(std::string_view number) {
  if (number.find_first_of(".eE") != number.npos) return false;
  const auto is_beyond = [&](auto value) {
    const auto* const end = number.data() + number.size();
    return std::from_chars(number.data(), end, value).ec == std::errc::result_out_of_range;
  };
  return number.starts_with('-') ? is_beyond(int64_t{}) : is_beyond(uint64_t{});
}

/// Parses again with Python's additions replaced, if the text has any.
template <class Parse>
simdjson::error_code parse_as(Dialect dialect, std::string_view text, const Parse& parse) {
  check_values(text);
  auto error = parse(text);
  std::string repaired;
  if (error && error != simdjson::MEMALLOC && dialect == Dialect::kPython &&
      replace_additions_of_python(text, repaired)) {
    repaired.reserve(repaired.size() + simdjson::SIMDJSON_PADDING);
    error = parse(repaired);
  }
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  return error;
}

}  // namespace

bool replace_additions_of_python(std::string_view text, std::string& out) {
  constexpr std::string_view kNumber = "0123456789.eE+-";
  size_t copied = 0;
  const auto replace = [&](size_t at, std::string_view word, const char* before,
                           const char* behind) {
    out.append(text, copied, at - copied).append(before).append(word).append(behind);
    copied = at + word.size();
  };
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = skip_text(text, at);
    } else if (const auto word = c == '-' || c == 'I' || c == 'N' ? non_finite_at(text.substr(at))
                                                                  : std::string_view();
               !word.empty()) {
      replace(at, word, "\"", "\"");
      at += word.size();
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      const auto end = std::min(text.find_first_not_of(kNumber, at), text.size());
      const auto number = text.substr(at, end - at);
      if (is_integer_beyond_64_bits(number)) replace(at, number, "", "e0");
      at = end;
    } else {
      ++at;
    }
  }
  if (copied > 0) out.append(text, copied, text.size() - copied);
  return copied > 0;
}

void refuse_repeated(std::string_view key) {
  throw BadFile("the key " + in_quotes(key) +
                " occurs twice, and readers disagree about which one counts");
}

simdjson::error_code parse_json(std::string_view text, bool padded, json::document& document,
                                Dialect dialect) {
  json::parser parser;  // frees its working memory on return
  return parse_as(dialect, text, [&](std::string_view t) {
    const bool copy = !padded && t.data() == text.data();
    return parser.parse_into_document(document, t.data(), t.size(), copy).error();
  });
}

simdjson::error_code parse_json(std::string_view text, json::parser& parser, json::element& root) {
  return parse_as(Dialect::kPython, text, [&](std::string_view t) {
    return parser.parse(t.data(), t.size(), false).get(root);
  });
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
