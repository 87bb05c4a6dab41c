// Takes the large lists and tables out of a JSON text.
#pragma once
#include <map>
#include <string>

#include "document.hpp"

namespace pt2 {

/// The text with nothing between the brackets of what stands at `cuts.paths` and is large, and the
/// extents of those. False when the text is small or is not as JSON should be: then it is to be
/// parsed as a whole.
bool cut(std::string_view text, const Cuts& cuts, std::string& rest,
         std::map<std::string, Extent, std::less<>>& extents);

}  // namespace pt2
