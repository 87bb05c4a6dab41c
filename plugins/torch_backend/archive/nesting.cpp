#include "archive/nesting.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace tmeter::torch_backend {
namespace {

constexpr int kMaxBrackets = 200;
constexpr int kMaxChain = 1000;  // operators of one expression
constexpr int kMaxIndent = 400;  // columns; a block is two further in

constexpr std::array<std::string_view, 8> kWords{"not", "and", "or",   "is",
                                                 "in",  "if",  "else", "lambda"};

class Nesting {
 public:
  explicit Nesting(std::string_view text) : text_(text) {}

  bool sane() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_quoted(c);
      } else if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') {
        word();
      } else {
        symbol(c);
        ++at_;
      }
      if (brackets_ > kMaxBrackets || chain_ > kMaxChain || indent_ > kMaxIndent) return false;
    }
    return true;
  }

 private:
  void skip_quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
    line_start_ = false;
  }

  void word() {
    const auto begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) {
      ++at_;
    }
    const auto found = text_.substr(begin, at_ - begin);
    if (std::find(kWords.begin(), kWords.end(), found) != kWords.end()) ++chain_;
    line_start_ = false;
  }

  void symbol(char c) {
    constexpr std::string_view kOperators = "+-*/%<>=&|^~@.([{";
    if (c == '\n') {
      line_start_ = true;
      indent_ = 0;
      if (brackets_ <= 0) chain_ = brackets_ = 0;
      return;
    }
    if (c == ' ' || c == '\t') {
      if (line_start_) ++indent_;
      return;
    }
    line_start_ = false;
    if (c == '(' || c == '[' || c == '{') ++brackets_;
    if (c == ')' || c == ']' || c == '}') --brackets_;
    if (c == ',') chain_ = 0;
    if (kOperators.find(c) != std::string_view::npos) ++chain_;
  }

  std::string_view text_;
  size_t at_ = 0;
  int brackets_ = 0, chain_ = 0, indent_ = 0;
  bool line_start_ = true;
};

}  // namespace

bool nested_sanely(std::string_view program) { return Nesting(program).sane(); }

bool brackets_sane(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (depth > kMaxBrackets) return false;
  }
  return true;
}

}  // namespace tmeter::torch_backend
