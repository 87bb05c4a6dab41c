// The parser of Expr: sympy.srepr text, plain infix text and the Python text of guards are one
// grammar.
//
//   expr    := operand (infix operand)*            infix by the precedence of Python
//   operand := ('-' | '+' | 'not') operand | number | 'text' | name | name '(' args ')' | source
//              | '(' expr,… ')' | '(' expr 'if' expr 'else' expr ')'
//   args    := expr or name '=' expr, separated by commas; named ones are assumptions
//   source  := 'L' ('[' 'text' ']' | '[' integer ']' | '.' name | '()')+     a symbol: all its text
#include <tmeter/abi/builder.h>

#include <charconv>
#include <cstdlib>
#include <string>

#include "expr_maker.hpp"

namespace pt2 {
namespace {

constexpr int kMaxExprDepth = 200;  // nesting; PyTorch's own expressions stay below 30
constexpr size_t kMaxExprBytes = 1 << 16;
constexpr size_t kMaxSymbolBytes = 64, kMaxSourceBytes = 256;

/// An argument: a number, a text, or the (value, condition) pair of a Piecewise.
struct Term {
  enum Kind { kNumber, kText, kPair } kind = kNumber;
  Fraction number{};
  Fraction condition{};
  std::string_view text{};
};

struct Infix {
  std::string_view token;
  int precedence;
  ExprFunction make;
};

constexpr int kOr = 1, kAnd = 2, kNot = 3, kComparison = 4, kSum = 5, kProduct = 6;
constexpr int kPower = 8;  // 7: unary minus

// Longer tokens first.
constexpr Infix kInfix[] = {
    {"or", kOr, logical_or},
    {"and", kAnd, logical_and},
    {"**", kPower, power},
    {"//", kProduct, floor_divide},
    {"==", kComparison, compare<TMETER_EXPR_EQ>},
    {"!=", kComparison, compare<TMETER_EXPR_NE>},
    {"<=", kComparison, compare<TMETER_EXPR_LE>},
    {">=", kComparison, compare<TMETER_EXPR_GE>},
    {"<", kComparison, compare<TMETER_EXPR_LT>},
    {">", kComparison, compare<TMETER_EXPR_GT>},
    {"+", kSum, add},
    {"-", kSum, subtract},
    {"*", kProduct, multiply},
    {"/", kProduct, divide},
    {"%", kProduct, modulo},
};

bool is_name_start(char c) { return c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c) || c == '.'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Expr parse() {
    const Fraction root = number(expression(0));
    skip_space();
    if (at_ != text_.size()) fail("unexpected text");
    return maker_.finish(root);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw ExprError(std::string(what) + " at character " + std::to_string(at_ + 1));
  }
  Fraction number(const Term& t) const {
    if (t.kind != Term::kNumber) fail("expected a number before this");
    return t.number;
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(std::string_view token) {
    skip_space();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  bool starts_with_word(std::string_view word) {
    skip_space();
    const auto rest = text_.substr(at_);
    return rest.starts_with(word) &&
           (rest.size() == word.size() || !is_name_part(rest[word.size()]));
  }
  bool take_word(std::string_view word) {
    const bool found = starts_with_word(word);
    if (found) at_ += word.size();
    return found;
  }
  const Infix* peek_infix(int lowest) {
    skip_space();
    for (const auto& row : kInfix) {
      const bool found = is_name_start(row.token.front())
                             ? starts_with_word(row.token)
                             : text_.substr(at_).starts_with(row.token);
      if (found) return row.precedence >= lowest ? &row : nullptr;
    }
    return nullptr;
  }

  Term expression(int lowest) {
    if (++depth_ > kMaxExprDepth) fail("nested too deeply");
    Term left = operand();
    bool is_compared = false;
    while (const Infix* infix = peek_infix(lowest)) {
      if (is_compared && infix->precedence == kComparison) fail("a chain of comparisons");
      is_compared = infix->precedence == kComparison;
      at_ += infix->token.size();
      // ** binds to the right, all others to the left.
      const int next = infix->precedence == kPower ? kPower : infix->precedence + 1;
      const std::array<Fraction, 2> sides{number(left), number(expression(next))};
      left = Term{.number = infix->make(maker_, sides)};
    }
    --depth_;
    return left;
  }

  Term operand() {
    skip_space();
    if (at_ == text_.size()) fail("the text ends too early");
    const char c = text_[at_];
    if (take("-")) return negated();
    if (take("+")) return expression(kProduct + 1);
    if (take_word("not")) return inverted();
    if (take("(")) return parenthesized();
    if (c == '\'' || c == '"') return quoted_text(c);
    if (is_digit(c) || c == '.') return literal();
    if (is_name_start(c)) return name_or_call();
    fail("unexpected character");
  }

  Term negated() {
    const std::array<Fraction, 2> sides{maker_.whole(maker_.integer(0)),
                                        number(expression(kProduct + 1))};
    return {.number = subtract(maker_, sides)};
  }

  Term inverted() {
    const std::array<Fraction, 2> sides{number(expression(kNot)), maker_.whole(maker_.integer(0))};
    return {.number = compare<TMETER_EXPR_EQ>(maker_, sides)};
  }

  Term parenthesized() {
    Term t = expression(0);
    if (take_word("if")) {
      const Fraction condition = number(expression(0));
      if (!take_word("else")) fail("expected 'else'");
      t = {.number = choose(maker_, condition, number(t), number(expression(0)))};
    }
    if (take(",")) {
      t = {.kind = Term::kPair, .number = number(t), .condition = number(expression(0))};
      take(",");
    }
    if (!take(")")) fail("expected ')'");
    return t;
  }

  Term quoted_text(char quote) {
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a string without end");
    Term t{.kind = Term::kText, .text = text_.substr(at_ + 1, end - at_ - 1)};
    at_ = end + 1;
    return t;
  }

  Term literal() {
    size_t end = at_;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    if (end < text_.size() && (text_[end] == '.' || (text_[end] | 0x20) == 'e')) return real();
    int64_t value = 0;
    const auto r = std::from_chars(text_.data() + at_, text_.data() + end, value);
    if (r.ec != std::errc()) fail("an integer beyond 64 bits");
    at_ = end;
    return {.number = maker_.whole(maker_.integer(value))};
  }

  Term real() {
    double value = 0;
    const auto r = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (r.ec != std::errc()) fail("not a number");
    at_ = static_cast<size_t>(r.ptr - text_.data());
    return {.number = maker_.real(value)};
  }

  std::string_view name() {
    const size_t start = at_;
    while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  Term name_or_call() {
    const size_t start = at_;
    const auto n = name();
    if (n == "L" && at_ < text_.size() && text_[at_] == '[') return source(start);
    if (take("(")) return call(n);
    if (n == "true" || n == "True") return {.number = maker_.whole(maker_.integer(1))};
    if (n == "false" || n == "False") return {.number = maker_.whole(maker_.integer(0))};
    if (n == "oo" || n == "int_oo" || n == "zoo" || n == "nan") fail("an infinite value");
    return symbol(n, n.starts_with('s'));  // sN are backed by an input's size
  }

  Term symbol(std::string_view n, bool non_negative) {
    if (n.empty() || n.size() > kMaxSymbolBytes) fail("a symbol without a proper name");
    return {.number = maker_.whole(maker_.symbol(n, non_negative))};
  }

  /// The size or number of an input, in guards: "L['x']['key'][0].size()[1]".
  Term source(size_t start) {
    while (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '.')) {
      if (text_[at_] == '[') {
        subscript();
      } else {
        name();
        if (text_.substr(at_).starts_with("()")) at_ += 2;
      }
    }
    const auto n = text_.substr(start, at_ - start);
    if (n.size() > kMaxSourceBytes) fail("the name of an input is too long");
    return {.number = maker_.whole(maker_.symbol(n, n.find(".size()") != n.npos))};
  }

  void subscript() {
    if (++at_ == text_.size()) fail("the text ends too early");
    const char c = text_[at_];
    if (c == '\'' || c == '"') quoted_text(c);
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    if (at_ == text_.size() || text_[at_] != ']') fail("expected ']'");
    ++at_;
  }

  /// `name = value` assumptions, of which only non-negative symbols matter.
  bool assumption(bool& non_negative) {
    const size_t start = at_;
    skip_space();
    const auto n = name();
    if (n.empty() || !take("=") || text_.substr(at_).starts_with("=")) {
      at_ = start;
      return false;
    }
    const Term value = expression(0);
    if (n == "positive" || n == "nonnegative")
      non_negative = value.kind == Term::kNumber && maker_.constant(value.number.num) == 1;
    return true;
  }

  Term call(std::string_view function) {
    std::vector<Term> terms;
    bool non_negative = false;
    if (!take(")")) {
      do {
        if (!assumption(non_negative)) terms.push_back(expression(0));
      } while (take(","));
      if (!take(")")) fail("expected ')'");
    }
    const bool one_text = terms.size() == 1 && terms[0].kind == Term::kText;
    if (function == "Symbol" && one_text) return symbol(terms[0].text, non_negative);
    if (function == "Float") return float_call(terms);
    if (function == "ExprCondPair" && terms.size() == 2)
      return {.kind = Term::kPair, .number = number(terms[0]), .condition = number(terms[1])};
    if (function == "Piecewise") return piecewise(terms);
    return apply(function, terms);
  }

  Term float_call(const std::vector<Term>& terms) {
    if (terms.size() != 1) fail("Float takes one number");
    if (terms[0].kind != Term::kText) return {.number = number(terms[0])};
    double value = 0;
    const auto t = terms[0].text;
    const auto r = std::from_chars(t.data(), t.data() + t.size(), value);
    if (r.ec != std::errc() || r.ptr != t.data() + t.size()) fail("not a number before this");
    return {.number = maker_.real(value)};
  }

  /// The first pair whose condition holds. Without one the value does not exist, so the last pair
  /// serves as the default.
  Term piecewise(const std::vector<Term>& pairs) {
    if (pairs.empty()) fail("Piecewise without a case");
    for (const auto& p : pairs)
      if (p.kind != Term::kPair) fail("Piecewise takes pairs");
    Fraction result = pairs.back().number;
    for (size_t i = pairs.size() - 1; i-- > 0;)
      result = choose(maker_, pairs[i].condition, pairs[i].number, result);
    return {.number = result};
  }

  Term apply(std::string_view function, const std::vector<Term>& terms) {
    const auto* row = find_expr_function(function);
    if (!row) fail(std::string("no rule for the function ") + std::string(function.substr(0, 40)));
    if (terms.size() < row->least || terms.size() > row->most) fail("wrong number of arguments");
    std::vector<Fraction> numbers;
    for (const auto& t : terms) numbers.push_back(number(t));
    return {.number = row->make(maker_, numbers)};
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  ExprMaker maker_;
};

}  // namespace

Expr Expr::parse(std::string_view text) {
  if (text.size() > kMaxExprBytes) throw ExprError("the text is too long");
  return Parser(text).parse();
}

}  // namespace pt2
