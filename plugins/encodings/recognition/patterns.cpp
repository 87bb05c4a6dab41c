#include "patterns.hpp"

#include <cstddef>

namespace packed {
namespace {

/// The position after the set that begins at `i`; npos: it has no end. A leading ']' is a member.
size_t end_of_character_class(std::string_view p, size_t i) {
  ++i;
  if (i < p.size() && p[i] == '^') ++i;
  for (bool first = true; i < p.size(); ++i, first = false) {
    if (p[i] == ']' && !first) return i + 1;
    if (p[i] == '\\') ++i;
  }
  return p.npos;
}

bool is_repeat(char c) { return c == '*' || c == '+' || c == '?'; }

}  // namespace

std::string_view pattern_error(std::string_view p) {
  size_t open = 0;
  bool repeatable = false;  // whether the item before `i` can be repeated
  for (size_t i = 0; i < p.size();) {
    const char c = p[i];
    if (is_repeat(c)) {
      if (!repeatable) return "nothing to repeat";
      repeatable = false;
      ++i;
      if (i < p.size() && (p[i] == '?' || p[i] == '+')) ++i;  // lazy, possessive
    } else if (c == '[') {
      i = end_of_character_class(p, i);
      if (i == p.npos) return "'[' without ']'";
      repeatable = true;
    } else if (c == '(') {
      ++open;
      repeatable = false;
      i += i + 1 < p.size() && p[i + 1] == '?' ? 2 : 1;
    } else if (c == ')') {
      if (open == 0) return "')' without '('";
      --open;
      repeatable = true;
      ++i;
    } else if (c == '\\') {
      if (i + 1 == p.size()) return "a backslash at the end";
      repeatable = true;
      i += 2;
    } else {
      repeatable = c != '|';
      ++i;
    }
  }
  return open > 0 ? "'(' without ')'" : "";
}

}  // namespace packed
