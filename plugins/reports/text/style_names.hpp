// Styles as users write them: "b green on #102030", "quiet", "not bold".
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "style.hpp"

namespace text_report {

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
