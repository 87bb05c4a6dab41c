#include "core/report_reader/json_value.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace tmeter::core::report_reader {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool at_end() const { return at_ == text_.size(); }
  bool take(char c) {
    skip_spaces();
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c, const char* what) {
    if (!take(c)) refuse(what);
  }
  /// The text of the value at the present position.
  std::string_view value() {
    skip_spaces();
    const size_t begin = at_;
    if (at_end()) refuse("a value");
    const char c = text_[at_];
    if (c == '"')
      skip_string();
    else if (c == '{' || c == '[')
      skip_brackets();
    else
      skip_word();
    return text_.substr(begin, at_ - begin);
  }
  [[noreturn]] void refuse(const char* expected) const {
    const auto found =
        at_end() ? std::string("it ends") : "not '" + printable(text_.substr(at_, 12)) + "'";
    throw Error(ErrorKind::kModel,
                std::string("this is not valid JSON: ") + expected + " is expected, " + found);
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

  void skip_string() {
    for (++at_; at_ < text_.size(); ++at_) {
      at_ = text_.find_first_of("\"\\", at_);
      if (at_ == text_.npos) break;
      if (text_[at_] == '"') return void(++at_);
      ++at_;  // the escaped character
    }
    at_ = text_.size();
    refuse("the end of a string");
  }

  void skip_brackets() {
    size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        skip_string();
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return;
    }
    refuse("a closing bracket");
  }

  void skip_word() {
    const size_t begin = at_;
    at_ = std::min(text_.find_first_of(",]}: \n\r\t", at_), text_.size());
    if (at_ == begin) refuse("a value");
  }

  std::string_view text_;
  size_t at_ = 0;
};

template <class Part>
void for_each_part(std::string_view text, char open, char close, Part&& part) {
  Scanner scanner(text);
  scanner.expect(open, open == '{' ? "an object" : "a list");
  if (!scanner.take(close)) {
    do {
      part(scanner);
    } while (scanner.take(','));
    scanner.expect(close, close == '}' ? "',' or '}'" : "',' or ']'");
  }
  scanner.skip_spaces();
  if (!scanner.at_end()) scanner.refuse("nothing more");
}

}  // namespace

void for_each_member(
    std::string_view text,
    const std::function<void(std::string_view key, std::string_view value)>& member) {
  for_each_part(text, '{', '}', [&](Scanner& scanner) {
    const auto key = scanner.value();
    if (!key.starts_with('"')) scanner.refuse("a key in quotes");
    scanner.expect(':', "':'");
    member(key, scanner.value());
  });
}

void for_each_item(std::string_view text, const std::function<void(std::string_view item)>& item) {
  for_each_part(text, '[', ']', [&](Scanner& scanner) { item(scanner.value()); });
}

namespace {

namespace dom = simdjson::dom;

[[noreturn]] void refuse_repeated(std::string_view key) {
  refuse("the key '" + printable(key) +
         "' occurs twice, and readers disagree about which one counts");
}

/// Few keys: compares each with all earlier ones.
template <size_t N>
void check_few_keys(dom::object object) {
  std::array<std::string_view, N> seen;
  size_t count = 0;
  for (const auto field : object) {
    if (std::find(seen.begin(), seen.begin() + count, field.key) != seen.begin() + count)
      refuse_repeated(field.key);
    seen[count++] = field.key;
  }
}

/// Many keys: sorts them, so that no file can make it slow.
void check_many_keys(dom::object object) {
  std::vector<std::string_view> keys;
  for (const auto field : object) keys.push_back(field.key);
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice != keys.end()) refuse_repeated(*twice);
}

}  // namespace

void refuse(const std::string& what) { throw Error(ErrorKind::kModel, what); }

template <class T>
T Item::as(const char* expected) const {
  T value{};
  if (value_.get(value) != simdjson::SUCCESS)
    refuse("'" + printable(name_) + "' must be " + expected);
  return value;
}

std::string_view Item::text() const { return as<std::string_view>("a string"); }
int64_t Item::integer() const { return as<int64_t>("a 64-bit integer"); }
uint64_t Item::natural() const { return as<uint64_t>("a whole number that is not negative"); }
double Item::real() const { return as<double>("a number"); }
bool Item::boolean() const { return as<bool>("true or false"); }
dom::array Item::list() const { return as<dom::array>("a list"); }
Members Item::members() const { return Members(as<dom::object>("an object")); }

size_t Item::index(size_t count) const {
  const auto i = natural();
  if (i >= count)
    refuse("'" + printable(name_) + "' is " + std::to_string(i) + ", and there are only " +
           std::to_string(count));
  return i;
}

Members::Members(dom::object object) : object_(object) {
  constexpr size_t kMaxComparedKeys = 32;
  object.size() <= kMaxComparedKeys ? check_few_keys<kMaxComparedKeys>(object)
                                    : check_many_keys(object);
}

std::optional<Item> Members::get(std::string_view key) const {
  dom::element value;
  if (object_.at_key(key).get(value) != simdjson::SUCCESS) return std::nullopt;
  return Item(value, key);
}

Item Members::at(std::string_view key) const {
  const auto item = get(key);
  if (!item) refuse("there is no '" + std::string(key) + "'");
  return *item;
}

std::optional<Item> Members::find(std::string_view key) const {
  auto item = get(key);
  return item && !item->is_null() ? item : std::nullopt;
}

std::string_view Members::text(std::string_view key) const {
  const auto item = find(key);
  return item ? item->text() : std::string_view();
}

Item Parser::parse(std::string_view piece, std::string_view name) {
  if (piece.size() > std::numeric_limits<uint32_t>::max()) refuse("it has a row beyond 4 GiB");
  const bool padded =
      static_cast<size_t>(end_ - piece.data()) >= piece.size() + simdjson::SIMDJSON_PADDING;
  dom::element value;
  const auto error = parser_.parse(piece.data(), piece.size(), !padded).get(value);
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  if (error == simdjson::DEPTH_ERROR)
    refuse("its lists and objects are nested more than 1,024 deep");
  if (error != simdjson::SUCCESS)
    refuse(std::string("this is not valid JSON: ") + simdjson::error_message(error));
  return {value, name};
}

}  // namespace tmeter::core::report_reader
