// Styles and templates as the configuration writes them: "b green on #102030" and
// "[b green]<name>[/] <macs>". A template is parsed once; a placeholder's value is inserted as
// plain text, whatever it contains.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "style.hpp"

namespace text_report {

struct Template {
  struct Part {
    std::string text;  // literal text, or the name of a placeholder
    bool placeholder = false;
    Style style;
    size_t at = 0;      // offset in the template
    size_t number = 0;  // set by the resolver of placeholders
  };
  std::vector<Part> parts;
  bool empty() const { return parts.empty(); }
  /// Whether the template has a placeholder with one of these names.
  bool names(std::initializer_list<std::string_view> names) const;
};

/// "[STYLE]" until "[/]" or "[/STYLE]", "<placeholder>"; a character after a backslash is literal.
/// A bracket without a style name ("[2]", "[[") and a "<" without a name are literal, too. Throws
/// Mistake for an unknown style, an unterminated tag or placeholder, "[/]" without a start, and a
/// text of more than 10,000 bytes.
Template parse_template(std::string_view text, const Theme& theme = default_theme());

/// `put(part, text)` appends the value of a placeholder.
template <class Put>
Text expand(const Template& t, Put&& put) {
  Text out;
  for (const auto& part : t.parts) {
    if (part.placeholder)
      put(part, out);
    else
      out.add(part.text, part.style);
  }
  return out;
}

/// Highlights numbers, quoted strings and the words True, False and None below the styles of the
/// text; pieces with a role are not changed.
Text highlighted(const Text& text, const Theme& theme);

// Styles as users write them: "b green on #102030", "quiet", "not bold".

/// An error in a text of the configuration, at a byte of it.
struct Mistake {
  size_t at;
  std::string what;
};

/// Words separated by spaces: attributes (bold or b, dim or d, italic or i, underline or u, blink,
/// reverse or r, strike or s), each also after "not"; a colour, one more after "on": a name,
/// "#rrggbb", "rgb(1,2,3)", "color(17)", "default"; roles of the theme (quiet, type, …); "none".
/// Throws Mistake.
Style parse_style(std::string_view text);

/// Styles separated by commas outside of brackets. Throws Mistake.
std::vector<Style> parse_styles(std::string_view text);

/// The number of a colour of the palette; empty for an unknown name.
std::optional<uint8_t> color_number(std::string_view name);
std::vector<std::string_view> color_names();

}  // namespace text_report
