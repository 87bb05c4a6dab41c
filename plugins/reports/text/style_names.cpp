#include "style_names.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "utf8.hpp"

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

// Words that change nothing; "tree" is the rich library's name of a tree's style.
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
  throw Mistake{
      at, "there is no style or colour '" + plugins::readable(word) + "'" + meant(word, words)};
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

std::string meant(std::string_view word, const std::vector<std::string_view>& words) {
  constexpr size_t kLongest = 64;
  if (word.empty() || word.size() > kLongest) return {};
  std::string_view best;
  size_t least = (word.size() < 3 ? 1 : std::max<size_t>(2, word.size() / 3)) + 1;
  for (const auto& other : words) {
    std::vector<size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t diagonal = row[0]++;
      for (size_t j = 1; j <= other.size(); ++j) {
        const auto cost = diagonal + (word[i - 1] != other[j - 1]);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, cost});
      }
    }
    if (row.back() < least) least = row.back(), best = other;
  }
  return best.empty() ? std::string() : " (did you mean '" + std::string(best) + "'?)";
}

}  // namespace text_report
