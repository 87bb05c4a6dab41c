#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

#include "torchscript/archive/checks.hpp"

namespace tmeter::torch_backend {
namespace {

constexpr size_t kMaxBrackets = 200;
constexpr size_t kMaxChain = 1000;  // operators of one expression, parts of one name
constexpr int kMaxIndent = 400;     // columns; a block is indented by two
constexpr int kMaxElif = 200;       // branches of one function
constexpr int kMaxLines = 20'000;   // lines of one function: LibTorch recurses along its statements
constexpr int kMaxEmptyLines = 1000;  // consecutive

constexpr std::array<std::string_view, 8> kOperatorWords{"not", "and", "or",   "is",
                                                         "in",  "if",  "else", "lambda"};
/// Functions in the literals of torch: float("inf"), torch.device("cpu"), annotate(List[int], []).
constexpr std::array<std::string_view, 4> kLiteralCalls{"float", "complex", "torch.device",
                                                        "annotate"};

template <size_t N>
bool among(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::string_view kTooDeep = "is nested too deeply to be a program that torch wrote";
constexpr std::string_view kTooLong = "has a function of more than 20,000 statements";
constexpr std::string_view kComputes =
    "computes the default value of an argument or a constant of a class, which would run while it "
    "is read";

/// The position of the parser with respect to values that LibTorch evaluates while parsing.
enum class Place {
  kCode,
  kHeader,   // between the brackets of "def f(…)"
  kLiteral,  // after "=" in a header or at class level
};

/// Splits tokens like LibTorch's Lexer (torch/csrc/jit/frontend/lexer.h).
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::string_view run() {
    while (at_ < text_.size() && error_.empty()) {
      const char c = text_[at_];
      if (c == '\n') {
        line_end();
      } else if (c == '#' && !text_.substr(at_).starts_with("# type:")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (std::isspace(static_cast<unsigned char>(c))) {
        if (line_start_) ++indent_;
        ++at_;
      } else {
        token(c);
      }
    }
    return error_;
  }

 private:
  struct Level {
    size_t chain = 0;
    bool header = false;
  };

  void refuse_if(bool bad, std::string_view why) {
    if (bad && error_.empty()) error_ = why;
  }

  void line_end() {
    ++at_;
    refuse_if(++empty_lines_ > kMaxEmptyLines, kTooDeep);
    if (levels_.size() > 1) return;  // a bracket is open: the statement continues
    line_start_ = true;
    indent_ = 0;
    levels_[0].chain = 0;
    place_ = Place::kCode;
  }

  void token(char c) {
    empty_lines_ = 0;
    if (line_start_) begin_line();
    line_start_ = false;
    if (c == '"' || c == '\'') {
      quoted(c);
    } else if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') {
      word();
    } else {
      symbol(c);
      ++at_;
      before_ = c;
    }
  }

  void begin_line() {
    refuse_if(++lines_ > kMaxLines, kTooLong);
    refuse_if(indent_ > kMaxIndent, kTooDeep);
    if (indent_ == 0) in_class_ = text_.substr(at_).starts_with("class");
    if (indent_ == 0) class_indent_ = 0;
    if (in_class_ && indent_ > 0 && class_indent_ == 0) class_indent_ = indent_;
    class_level_ = in_class_ && indent_ > 0 && indent_ == class_indent_;
  }

  void quoted(char quote) {
    const bool triple = text_.substr(at_).starts_with(std::string(3, quote));
    const std::string end(triple ? 3 : 1, quote);
    at_ += end.size();
    while (at_ < text_.size() && !text_.substr(at_).starts_with(end)) {
      if (text_[at_] == '\n' && !triple) return;  // LibTorch refuses this
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_ + end.size(), text_.size());
    before_ = quote;
  }

  void word() {
    const auto begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) {
      ++at_;
    }
    const auto word = text_.substr(begin, at_ - begin);
    const bool operation = among(kOperatorWords, word);
    if (operation) chain();
    refuse_if(place_ == Place::kLiteral && (operation || word == "for"), kComputes);
    if (word == "elif") refuse_if(++elifs_ > kMaxElif, kTooDeep);
    if (word == "def") {
      elifs_ = lines_ = 0;
      header_next_ = true;
    }
    if (before_ != '.') name_begin_ = begin;
    name_ = text_.substr(name_begin_, at_ - name_begin_);
    before_ = 'a';
  }

  void symbol(char c) {
    constexpr std::string_view kOperators = "+-*/%<>=&|^~@.";
    if (kOperators.find(c) != std::string_view::npos) chain();
    if (c == '(' || c == '[' || c == '{') return open(c);
    if (c == ')' || c == ']' || c == '}') return close();
    if (c == ',') {
      levels_.back().chain = 0;
      if (levels_.back().header) place_ = Place::kHeader;
      return;
    }
    if (c == '=') return assignment();
    refuse_if(place_ == Place::kLiteral &&
                  std::string_view("+*/%<>&|^~@").find(c) != std::string_view::npos,
              kComputes);
  }

  void chain() { refuse_if(++levels_.back().chain > kMaxChain, kTooDeep); }

  void open(char c) {
    constexpr std::string_view kCallable = "a)]}\"'";  // characters that "(" calls
    const bool call = c == '(' && kCallable.find(before_) != std::string_view::npos;
    const bool literal = before_ == 'a' && among(kLiteralCalls, name_);
    refuse_if(place_ == Place::kLiteral && call && !literal, kComputes);
    chain();
    levels_.push_back({0, header_next_ && c == '('});
    if (levels_.back().header) place_ = Place::kHeader;
    header_next_ = false;
    refuse_if(levels_.size() > kMaxBrackets, kTooDeep);
  }

  void close() {
    if (levels_.back().header) place_ = Place::kCode;
    if (levels_.size() > 1) levels_.pop_back();
  }

  void assignment() {
    if (place_ == Place::kHeader && levels_.back().header) place_ = Place::kLiteral;
    if (place_ == Place::kCode && class_level_ && levels_.size() == 1) place_ = Place::kLiteral;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<Level> levels_{1};
  Place place_ = Place::kCode;
  std::string_view name_;  // the latest, with its dots: "torch.device"
  size_t name_begin_ = 0;
  char before_ = 0;  // the token before: its last character, 'a' for a word
  bool line_start_ = true, header_next_ = false;
  bool in_class_ = false, class_level_ = false;
  int indent_ = 0, class_indent_ = 0, elifs_ = 0, empty_lines_ = 0, lines_ = 0;
  std::string_view error_;
};

}  // namespace

std::string_view reason_to_refuse(std::string_view program) { return Scanner(program).run(); }

bool is_shallow_type(std::string_view text) {
  size_t depth = 0, dots = 0;
  for (const char c : text) {
    if (c == '[' || c == '(') ++depth;
    if ((c == ']' || c == ')') && depth > 0) --depth;
    if (c == ' ') dots = 0;  // dots of separate sentences do not nest
    if (c == '.') ++dots;
    if (depth > kMaxBrackets || dots > kMaxChain) return false;
  }
  return true;
}

}  // namespace tmeter::torch_backend
