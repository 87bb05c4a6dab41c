#include "core/report_reader/json_pieces.hpp"

#include <algorithm>
#include <string>

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
  /// The text of the value that begins at the present position.
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
    const auto found = at_end() ? std::string("it ends")
                                : "'" + printable(text_.substr(at_, 12)) + "' stands there";
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
    refuse("the end of a text");
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

}  // namespace tmeter::core::report_reader
