// Templates of the configuration: "[b green]<name>[/] <macs>". Parsed once; what takes the place of
// a placeholder is text, whatever is in it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "style_names.hpp"

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

}  // namespace text_report
