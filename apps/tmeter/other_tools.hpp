// Options and commands of other tools, and tmeter's own in their place.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tmeter::app {

/// "; here it is --report json"; empty for an option that no other tool has.
std::string option_replacement(std::string_view option);

/// Throws core::Error(kUsage) if the operands are words of another tool: a command that tmeter
/// lacks ("analyze model.pt2"), or a shape, a bound or a format without its option. Files that
/// exist are never treated as words. `lists`: an option with a list of names is given.
void refuse_foreign_terms(const std::vector<std::string>& operands, bool lists);

}  // namespace tmeter::app
