#include "markup.hpp"

#include <algorithm>
#include <charconv>
#include <tmeter/cpp/nearest.hpp>

#include "plugins/common/utf8.hpp"

namespace text_report {

namespace {

template <class T>
struct Named {
  std::string_view name;
  T value;
};

constexpr std::array<Named<Attribute>, 14> kAttributes{{{"bold", kBold},
                                                        {"b", kBold},
                                                        {"dim", kDim},
                                                        {"d", kDim},
                                                        {"italic", kItalic},
                                                        {"i", kItalic},
                                                        {"underline", kUnderline},
                                                        {"u", kUnderline},
                                                        {"blink", kBlink},
                                                        {"blink2", kBlink},
                                                        {"reverse", kReverse},
                                                        {"r", kReverse},
                                                        {"strike", kStrike},
                                                        {"s", kStrike}}};

constexpr std::array<Named<Role>, 9> kRoleNames{{{"strong", Role::kStrong},
                                                 {"quiet", Role::kQuiet},
                                                 {"type", Role::kType},
                                                 {"bar", Role::kBar},
                                                 {"good", Role::kGood},
                                                 {"warning", Role::kWarning},
                                                 {"number", Role::kNumber},
                                                 {"quoted", Role::kQuoted},
                                                 {"word", Role::kWord}}};

// Words without effect; "tree" is the rich library's name of a tree's style.
constexpr std::array<std::string_view, 3> kNothing{"none", "null", "tree"};

template <class Table>
auto by_name(const Table& table, std::string_view name) {
  return std::find_if(table.begin(), table.end(), [&](const auto& n) { return n.name == name; });
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (auto& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool parse_byte(std::string_view text, int base, uint8_t& out) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<Color> parse_hex(std::string_view word) {
  Color c{Color::Kind::kRgb, {}};
  if (word.size() != 7) return std::nullopt;
  for (size_t i = 0; i < 3; ++i)
    if (!parse_byte(word.substr(1 + 2 * i, 2), 16, c.value[i])) return std::nullopt;
  return c;
}

// "rgb(1,2,3)", "color(17)": the numbers between the brackets.
std::optional<Color> parse_numbers(std::string_view word) {
  const bool rgb = word.starts_with("rgb(");
  if ((!rgb && !word.starts_with("color(")) || !word.ends_with(")")) return std::nullopt;
  Color c{rgb ? Color::Kind::kRgb : Color::Kind::kPalette, {}};
  auto rest = word.substr(word.find('(') + 1);
  rest.remove_suffix(1);
  for (size_t i = 0; i < (rgb ? 3 : 1); ++i) {
    const auto comma = rest.find(',');
    if (!parse_byte(rest.substr(0, comma), 10, c.value[i])) return std::nullopt;
    const bool last = i + 1 == (rgb ? 3 : 1);
    if ((comma == rest.npos) != last) return std::nullopt;
    if (!last) rest.remove_prefix(comma + 1);
  }
  return c;
}

std::optional<Color> parse_color(std::string_view word) {
  if (word == "default") return Color{Color::Kind::kOwn, {}};
  if (word.starts_with("#")) return parse_hex(word);
  if (const auto number = color_number(word)) return Color{Color::Kind::kPalette, {*number, 0, 0}};
  return parse_numbers(word);
}

[[noreturn]] void unknown(std::string_view word, size_t at) {
  auto words = color_names();
  for (const auto& a : kAttributes)
    if (a.name.size() > 1) words.push_back(a.name);
  for (const auto& r : kRoleNames) words.push_back(r.name);
  throw Mistake{at, "there is no style or colour '" + plugins::readable(word) + "'" +
                        tmeter::did_you_mean(word, words)};
}

// The word that begins at `at`, spaces before it skipped: "rgb(1, 2, 3)" is one.
std::string_view next_word(std::string_view text, size_t& at) {
  while (at < text.size() && text[at] == ' ') ++at;
  size_t end = at;
  for (int depth = 0; end < text.size() && (text[end] != ' ' || depth > 0); ++end)
    depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
  return text.substr(at, end - at);
}

}  // namespace

Style parse_style(std::string_view text) {
  Style style;
  bool back = false, take_back = false;
  size_t at = 0;
  for (auto written = next_word(text, at); !written.empty(); written = next_word(text, at)) {
    const auto word = lower(written);
    const auto attribute = by_name(kAttributes, word);
    const auto role = by_name(kRoleNames, word);
    if (take_back) {
      if (attribute == kAttributes.end()) unknown(written, at);
      style.off |= attribute->value;
      take_back = false;
    } else if (back || (attribute == kAttributes.end() && role == kRoleNames.end())) {
      const bool named = word == "on" || word == "not";
      const bool nothing = std::find(kNothing.begin(), kNothing.end(), word) != kNothing.end();
      const auto color = parse_color(word);
      if (!color && (back || (!named && !nothing))) unknown(written, at);
      if (color) (back ? style.back : style.front) = *color;
      take_back = !back && word == "not";
      back = !back && word == "on";
    } else if (attribute != kAttributes.end()) {
      style.on |= attribute->value;
    } else {
      style.role = role->value;
    }
    at += written.size();
  }
  if (back || take_back)
    throw Mistake{text.size(),
                  back ? "a colour is missing after 'on'" : "an attribute is missing after 'not'"};
  return style;
}

std::vector<Style> parse_styles(std::string_view text) {
  std::vector<Style> out;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] != ',' || depth > 0)) {
      depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      continue;
    }
    try {
      out.push_back(parse_style(text.substr(begin, i - begin)));
    } catch (const Mistake& m) {
      throw Mistake{begin + m.at, m.what};
    }
    begin = i + 1;
  }
  const bool any = std::any_of(out.begin(), out.end(), [](const Style& s) { return !s.plain(); });
  return any ? out : std::vector<Style>();
}

namespace {

constexpr size_t kMaxTemplate = 10'000;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool in_name(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.'; }

class Parser {
 public:
  Parser(std::string_view text, const Theme& theme) : text_(text), theme_(theme) {}

  Template run() {
    if (text_.size() > kMaxTemplate)
      throw Mistake{0, "a template has at most " + std::to_string(kMaxTemplate) +
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

  // The end of the tag or placeholder at `at_`.
  size_t end_of(char close, const char* what) const {
    const auto end = text_.find(close, at_);
    const auto next = text_.find(text_[at_], at_ + 1);
    if (end == text_.npos || next < end)
      throw Mistake{at_, std::string("this ") + what + " has no '" + close + "'; a '" + text_[at_] +
                             "' as a plain character is written \\" + text_[at_]};
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

  // "[/]" ends the last one, "[/b]" the last with this name and all tags inside it.
  void close(std::string_view tag) {
    auto it = open_.rbegin();
    if (!tag.empty())
      it = std::find_if(it, open_.rend(), [&](const Open& o) { return o.tag == tag; });
    if (it == open_.rend())
      throw Mistake{at_, "[/" + plugins::readable(tag) + "] has no opening tag"};
    style_ = it->before;
    open_.erase(std::prev(it.base()), open_.end());
  }

  void placeholder() {
    const auto end = end_of('>', "placeholder");
    const auto name = text_.substr(at_ + 1, end - at_ - 1);
    if (!std::all_of(name.begin(), name.end(), in_name))
      throw Mistake{at_, "'" + plugins::readable(name) + "' is not the name of a placeholder"};
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

// The length and role of the highlighted token at the start of `text`.
std::pair<size_t, Style> token_at(std::string_view text) {
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
    size_t begin = 0;  // start of the text without highlights
    for (size_t i = 0; i < rest.size();) {
      const bool inside = i > 0 && in_name(rest[i - 1]);  // "conv1"
      const auto [length, style] = inside ? std::pair<size_t, Style>{} : token_at(rest.substr(i));
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
