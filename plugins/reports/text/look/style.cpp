#include "style.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace text_report {

namespace {

constexpr Style basic(uint8_t color) {
  Style style;
  style.front = {Color::Kind::kPalette, {color, 0, 0}};
  return style;
}
constexpr Style attribute(uint8_t bits) { return {Role::kPlain, bits}; }

// Indexed by Role.
constexpr Theme kDefaultTheme{{{},
                               attribute(kBold),
                               attribute(kDim),
                               basic(6),
                               basic(4),
                               basic(2),
                               basic(3),
                               {Role::kPlain, kBold, 0, basic(6).front},
                               basic(2),
                               attribute(kItalic)}};

// SGR parameters of the attributes, by bit.
constexpr std::array<std::string_view, 7> kAttributeCodes{"1", "2", "3", "4", "5", "7", "9"};

void add_code(std::string& codes, std::string_view code) {
  if (!codes.empty()) codes += ';';
  codes += code;
}

// `first`: 30 for the front, 40 for the back.
void add_color(std::string& codes, const Color& c, int first) {
  const auto number = [](int n) { return std::to_string(n); };
  switch (c.kind) {
    case Color::Kind::kNone:
      return;
    case Color::Kind::kOwn:
      return add_code(codes, number(first + 9));
    case Color::Kind::kPalette:
      if (c.value[0] < 8) return add_code(codes, number(first + c.value[0]));
      if (c.value[0] < 16) return add_code(codes, number(first + 60 + c.value[0] - 8));
      return add_code(codes, number(first + 8) + ";5;" + number(c.value[0]));
    case Color::Kind::kRgb:
      return add_code(codes, number(first + 8) + ";2;" + number(c.value[0]) + ";" +
                                 number(c.value[1]) + ";" + number(c.value[2]));
  }
}

std::string codes_of(Style style, const Theme& theme) {
  style = over({}, style, theme);
  std::string codes;
  for (size_t bit = 0; bit < kAttributeCodes.size(); ++bit)
    if (style.on >> bit & 1) add_code(codes, kAttributeCodes[bit]);
  add_color(codes, style.front, 30);
  add_color(codes, style.back, 40);
  return codes;
}

// A report has a few styles only.
class Codes {
 public:
  explicit Codes(const Theme& theme) : theme_(theme) {}
  const std::string& of(const Style& style) {
    for (const auto& [cached, codes] : cache_)
      if (cached == style) return codes;
    return cache_.emplace_back(style, codes_of(style, theme_)).second;
  }

 private:
  const Theme& theme_;
  std::vector<std::pair<Style, std::string>> cache_;
};

// Whether a space in this style is visible.
bool shows_spaces(const Style& style) {
  return style.back.kind != Color::Kind::kNone || style.on & (kUnderline | kReverse | kStrike);
}

}  // namespace

const Theme& default_theme() { return kDefaultTheme; }

Style over(Style base, Style top, const Theme& theme) {
  const auto concrete = [&theme](Style s) {
    if (s.role == Role::kPlain) return s;
    Style out = theme[static_cast<size_t>(s.role)];
    s.role = Role::kPlain;
    return over(out, s, theme);
  };
  base = concrete(base);
  top = concrete(top);
  base.on = static_cast<uint8_t>((base.on & ~top.off) | top.on);
  base.off = static_cast<uint8_t>((base.off & ~top.on) | top.off);
  if (top.front.kind != Color::Kind::kNone) base.front = top.front;
  if (top.back.kind != Color::Kind::kNone) base.back = top.back;
  return base;
}

void Text::add_safe(std::string text, size_t width, Style style) {
  width_ += width;
  if (!pieces_.empty() && pieces_.back().style == style)
    pieces_.back().text += text;
  else
    pieces_.push_back({std::move(text), style});
}

Text& Text::add(std::string_view text, Style style) {
  if (text.empty()) return *this;
  std::string safe = printable(text);
  const auto width = display_width(safe);
  add_safe(std::move(safe), width, style);
  return *this;
}

Text& Text::append(const Text& other) {
  const auto width = width_ + other.width_;
  for (const auto& piece : other.pieces_) add_safe(piece.text, 0, piece.style);
  width_ = width;
  return *this;
}

Text& Text::pad_to(size_t width, Style style) {
  if (width_ < width) add_safe(std::string(width - width_, ' '), width - width_, style);
  return *this;
}

Text Text::cut(size_t width) const {
  if (width_ <= width) return *this;
  Text out;
  for (const auto& piece : pieces_) {
    const size_t left = width - out.width();
    // The last piece that fits in full gives up a column for the ellipsis.
    const bool whole = display_width(piece.text) < left;
    out.add(whole ? piece.text : cut_end(piece.text + " ", left), piece.style);
    if (!whole) break;
  }
  return out;
}

Text Text::crop(size_t width) const {
  if (width_ <= width) return *this;
  Text out;
  for (const auto& piece : pieces_)
    out.add(first_columns(piece.text, width - out.width()), piece.style);
  return out;
}

Text Text::on(Style base, const Theme& theme) const {
  Text out;
  for (const auto& piece : pieces_) out.add_safe(piece.text, 0, over(base, piece.style, theme));
  out.width_ = width_;
  return out;
}

std::string render(const Text& line, const Rendering& how) {
  const auto& pieces = line.pieces();
  size_t shown = pieces.size(), last = 0;  // bytes of the last piece
  for (; shown > 0; --shown) {
    const auto& piece = pieces[shown - 1];
    const bool keep = how.color && shows_spaces(over({}, piece.style, *how.theme));
    last = keep ? piece.text.size() : piece.text.find_last_not_of(' ') + 1;
    if (last > 0) break;
  }
  Codes codes(*how.theme);
  std::string out;
  for (size_t i = 0; i < shown; ++i) {
    const auto text =
        std::string_view(pieces[i].text).substr(0, i + 1 < shown ? std::string::npos : last);
    static const std::string nothing;
    const auto& code = how.color ? codes.of(pieces[i].style) : nothing;
    if (!code.empty()) out.append("\x1b[").append(code).append("m");
    if (how.ascii)
      add_ascii(text, out);
    else
      out += text;
    if (!code.empty()) out += "\x1b[0m";
  }
  return out += '\n';
}

namespace {

constexpr std::string_view kEllipsis = "…";

// The tables are utf8proc's.
size_t width_of(char32_t code) {
  if (code == plugins::kInvalidUtf8) return 1;
  return static_cast<size_t>(utf8proc_charwidth(static_cast<utf8proc_int32_t>(code)));
}

bool is_plain(char c) { return c >= 0x20 && c < 0x7F; }

}  // namespace

size_t display_width(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), is_plain)) return text.size();
  size_t width = 0;
  while (!text.empty()) {
    const auto [code, bytes] = plugins::decode_utf8(text);
    width += width_of(code);
    text.remove_prefix(bytes);
  }
  return width;
}

std::string_view first_columns(std::string_view text, size_t width) {
  size_t taken = 0, at = 0;
  while (at < text.size()) {
    const auto [code, bytes] = plugins::decode_utf8(text.substr(at));
    if (taken + width_of(code) > width) break;
    taken += width_of(code);
    at += bytes;
  }
  return text.substr(0, at);
}

std::string cut_end(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  return std::string(first_columns(text, width - 1)).append(kEllipsis);
}

std::string cut_start(std::string_view text, size_t width) {
  size_t left = display_width(text);
  if (left <= width) return std::string(text);
  if (width == 0) return {};
  while (left > width - 1) {
    const auto [code, bytes] = plugins::decode_utf8(text);
    left -= width_of(code);
    text.remove_prefix(bytes);
  }
  return std::string(kEllipsis).append(text);
}

namespace {

struct Substitute {
  std::string_view of;  // characters
  char by;
};

// Replacements for the characters of reports. All other characters of names become "?".
constexpr std::array<Substitute, 16> kSubstitutes{{{"─━═╌┄╍┅–—−╴╶╼╾╸╺", '-'},
                                                   {"│┃║╎┆╏┇", '|'},
                                                   {"┌┐└┘├┤┬┴┼╭╮╰╯┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬", '+'},
                                                   {"╒╓╕╖╘╙╛╜╞╟╡╢╤╥╧╨╪╫┍┎┑┒┕┖┙┚┝┞┟┠┡┢┥┦┧┨┩┪", '+'},
                                                   {"┭┮┯┰┱┲┵┶┷┸┹┺┽┾┿╀╁╂╃╄╅╆╇╈╉╊", '+'},
                                                   {"×✕", 'x'},
                                                   {"·…•", '.'},
                                                   {"≥→▸›", '>'},
                                                   {"≤←‹", '<'},
                                                   {"≈", '~'},
                                                   {"↑", '^'},
                                                   {"†", '*'},
                                                   {"▓", '='},
                                                   {"▒", '-'},
                                                   {"░", ':'},
                                                   {"▏▎▍▌▋▊▉█▁▂▃▄▅▆▇", '#'}}};

char ascii_of(std::string_view character) {
  for (const auto& s : kSubstitutes)
    if (s.of.find(character) != s.of.npos) return s.by;
  return '?';
}

}  // namespace

void add_ascii(std::string_view text, std::string& out) {
  constexpr std::string_view kMore = "… ";  // at the start of a sentence, where no column follows
  if (text.starts_with(kMore)) {
    out += "... ";
    text.remove_prefix(kMore.size());
  }
  plugins::for_each_character(text, [&out](char32_t code, std::string_view bytes) {
    if (code < 0x80)
      out += bytes;
    else
      out.append(display_width(bytes), ascii_of(bytes));
  });
}

}  // namespace text_report
