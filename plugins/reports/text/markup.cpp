#include "markup.hpp"

#include <algorithm>

#include "plugins/common/utf8.hpp"

namespace text_report {
namespace {

constexpr size_t kLongest = 10'000;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool in_name(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.'; }

class Parser {
 public:
  Parser(std::string_view text, const Theme& theme) : text_(text), theme_(theme) {}

  Template run() {
    if (text_.size() > kLongest)
      throw Mistake{0, "a template has at most " + std::to_string(kLongest) +
                           " bytes, this one has " + std::to_string(text_.size())};
    while (at_ < text_.size()) step();
    put();
    return std::move(out_);
  }

 private:
  struct Open {
    std::string_view tag;
    Style before;
  };

  char peek(size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void step() {
    const char c = text_[at_];
    if (c == '\\' && (peek(1) == '[' || peek(1) == '<' || peek(1) == '>' || peek(1) == '\\')) {
      written_ += peek(1);
      at_ += 2;
    } else if (c == '[' && (is_letter(peek(1)) || peek(1) == '#' || peek(1) == '/')) {
      tag();
    } else if (c == '<' && is_letter(peek(1))) {
      placeholder();
    } else {
      written_ += c;
      ++at_;
    }
  }

  // The end of what began at `at_`.
  size_t end_of(char close, const char* what) const {
    const auto end = text_.find(close, at_);
    const auto next = text_.find(text_[at_], at_ + 1);
    if (end == text_.npos || next < end)
      throw Mistake{at_, std::string("this ") + what + " has no '" + close + "'; a '" + text_[at_] +
                             "' that is meant as it stands is written \\" + text_[at_]};
    return end;
  }

  void tag() {
    const auto end = end_of(']', "tag");
    const auto inside = text_.substr(at_ + 1, end - at_ - 1);
    put();
    if (inside.front() == '/')
      close(inside.substr(1));
    else
      open(inside);
    at_ = end + 1;
  }

  void open(std::string_view tag) {
    Style style;
    try {
      style = parse_style(tag);
    } catch (const Mistake& m) {
      throw Mistake{at_ + 1 + m.at, m.what};
    }
    open_.push_back({tag, style_});
    style_ = style_.plain() ? style : over(style_, style, theme_);
  }

  // "[/]" ends the last one, "[/b]" the last that is called so, and what was opened inside it.
  void close(std::string_view tag) {
    auto it = open_.rbegin();
    if (!tag.empty())
      it = std::find_if(it, open_.rend(), [&](const Open& o) { return o.tag == tag; });
    if (it == open_.rend())
      throw Mistake{at_, "[/" + plugins::readable(tag) + "] ends nothing that was begun"};
    style_ = it->before;
    open_.erase(std::prev(it.base()), open_.end());
  }

  void placeholder() {
    const auto end = end_of('>', "placeholder");
    const auto name = text_.substr(at_ + 1, end - at_ - 1);
    if (!std::all_of(name.begin(), name.end(), in_name))
      throw Mistake{at_, "'" + plugins::readable(name) + "' is no name of a placeholder"};
    put();
    out_.parts.push_back({std::string(name), true, style_, at_});
    at_ = end + 1;
  }

  void put() {
    if (!written_.empty()) out_.parts.push_back({std::move(written_), false, style_, at_});
    written_.clear();
  }

  std::string_view text_;
  const Theme& theme_;
  size_t at_ = 0;
  std::string written_;
  Style style_;
  std::vector<Open> open_;
  Template out_;
};

size_t length_of_number(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && (is_digit(text[n]) || (text[n] == '.' && n > 0 && n + 1 < text.size() &&
                                                   is_digit(text[n + 1]))))
    ++n;
  return n;
}

// How much of `text` is one thing to be highlighted, and as what.
std::pair<size_t, Style> thing(std::string_view text) {
  if (is_digit(text[0])) return {length_of_number(text), {Role::kNumber}};
  if (text[0] == '\'' || text[0] == '"') {
    const auto end = text.find(text[0], 1);
    if (end != text.npos) return {end + 1, {Role::kQuoted}};
  }
  for (const std::string_view word : {"True", "False", "None"})
    if (text.starts_with(word) && (text.size() == word.size() || !in_name(text[word.size()])))
      return {word.size(), {Role::kWord}};
  return {0, {}};
}

}  // namespace

bool Template::names(std::initializer_list<std::string_view> names) const {
  return std::any_of(parts.begin(), parts.end(), [&](const Part& p) {
    return p.placeholder && std::find(names.begin(), names.end(), p.text) != names.end();
  });
}

Template parse_template(std::string_view text, const Theme& theme) {
  return Parser(text, theme).run();
}

Text highlighted(const Text& text, const Theme& theme) {
  Text out;
  for (const auto& piece : text.pieces()) {
    if (piece.style.role != Role::kPlain) {
      out.add(piece.text, piece.style);
      continue;
    }
    std::string_view rest = piece.text;
    size_t begin = 0;  // of what is not highlighted
    for (size_t i = 0; i < rest.size();) {
      const bool inside = i > 0 && in_name(rest[i - 1]);  // "conv1"
      const auto [length, style] = inside ? std::pair<size_t, Style>{} : thing(rest.substr(i));
      if (length == 0) {
        ++i;
        continue;
      }
      out.add(rest.substr(begin, i - begin), piece.style);
      out.add(rest.substr(i, length), over(style, piece.style, theme));
      begin = i += length;
    }
    out.add(rest.substr(begin), piece.style);
  }
  return out;
}

}  // namespace text_report
