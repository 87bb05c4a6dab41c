// Styles and templates as the configuration writes them: "b green on #102030" and
// "[b green]<name>[/] <macs>". A template is parsed once; a placeholder's value is inserted as plain
// text, whatever it contains.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "style.hpp"

namespace text_report {

struct Template {
  struct Part {
    std::string text;  // to be written, or the name of a placeholder
    bool placeholder = false;
    Style style;
    size_t at = 0;      // in the template
    size_t number = 0;  // for whoever resolves placeholders
  };
  std::vector<Part> parts;
  bool empty() const { return parts.empty(); }
  /// Whether there is a placeholder of one of these names.
  bool names(std::initializer_list<std::string_view> names) const;
};

/// "[STYLE]" until "[/]" or "[/STYLE]", "<placeholder>"; what follows a backslash is meant as it
/// stands. A bracket that no style name follows ("[2]", "[[") and a "<" without a name are
/// themselves. Throws Mistake: a style nobody knows, a tag or a placeholder that does not end,
/// "[/]" without a beginning, a text of more than 10,000 bytes.
Template parse_template(std::string_view text, const Theme& theme = default_theme());

/// `put(part, text)` writes what stands for a placeholder.
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

/// Numbers, quoted texts and the words True, False and None, below the styles the text has; what
/// has a role stays as it is.
Text highlighted(const Text& text, const Theme& theme);

// Styles as users write them: "b green on #102030", "quiet", "not bold".

/// What is wrong with a text of the configuration, and at which of its bytes.
struct Mistake {
  size_t at;
  std::string what;
};

/// Words separated by spaces: attributes (bold or b, dim or d, italic or i, underline or u, blink,
/// reverse or r, strike or s), each also after "not"; a colour, one more after "on": a name,
/// "#rrggbb", "rgb(1,2,3)", "color(17)", "default"; roles of the theme (quiet, type, …); "none".
/// Throws Mistake.
Style parse_style(std::string_view text);

/// Styles separated by commas (those inside brackets aside). Throws Mistake.
std::vector<Style> parse_styles(std::string_view text);

/// The number of a colour of the palette; none of that name.
std::optional<uint8_t> color_number(std::string_view name);
std::vector<std::string_view> color_names();

/// " (did you mean 'green'?)", or nothing.
std::string meant(std::string_view word, const std::vector<std::string_view>& words);

}  // namespace text_report
