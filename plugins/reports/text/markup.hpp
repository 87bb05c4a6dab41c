// Templates of the configuration: "[b green]<name>[/] <macs>". Parsed once; what takes the place of a
// placeholder is text, whatever is in it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "style_names.hpp"

namespace text_report {

struct Template {
  struct Part {
    std::string text;          // to be written, or the name of a placeholder
    bool placeholder = false;
    Style style;
    size_t at = 0;             // in the template
    size_t number = 0;         // for whoever resolves placeholders
  };
  std::vector<Part> parts;
  bool empty() const { return parts.empty(); }
  /// Whether there is a placeholder of one of these names.
  bool names(std::initializer_list<std::string_view> names) const;
};

/// "[STYLE]" until "[/]" or "[/STYLE]", "<placeholder>"; what follows a backslash is meant as it stands. A
/// bracket that no style name follows ("[2]", "[[") and a "<" without a name are themselves. Throws
/// Mistake: a style nobody knows, a tag or a placeholder that does not end, "[/]" without a beginning, a
/// text of more than 10,000 bytes.
Template parse_template(std::string_view text, const Theme& theme = default_theme());

/// `put(part, text, style)` writes what stands for a placeholder.
template <class Put>
Text expand(const Template& t, Style base, const Theme& theme, Put&& put) {
  Text out;
  for (const auto& part : t.parts) {
    const auto style = base.plain() ? part.style : over(base, part.style, theme);
    if (part.placeholder)
      put(part, out, style);
    else
      out.add(part.text, style);
  }
  return out;
}

/// Numbers, quoted texts and the words True, False and None in pieces without a style of their own.
Text highlighted(const Text& text, const Theme& theme);

}  // namespace text_report
