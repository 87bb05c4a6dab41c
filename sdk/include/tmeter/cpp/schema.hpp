// The schema of an operator, "acme::f(Tensor(a!) x, int n=1) -> Tensor(a!)".
#pragma once
#include <string_view>
#include <vector>

#include "base.hpp"

TMETER_SDK_BEGIN

/// One argument or result: "Tensor(a!)? out=None".
struct SchemaItem {
  std::string_view type;    ///< "Tensor(a!)?"
  std::string_view name;    ///< "out"; most results have none
  std::string_view memory;  ///< "a", "a|b", "*": items with one of these letters share memory
  bool written = false;     ///< "(a!)": the operator writes into it

  /// Whether both may have the same memory. Items without letters have separate memory.
  bool shares_memory_with(const SchemaItem& other) const {
    for (const char c : memory) {
      if (c == '*' || (c != '|' && other.memory.find(c) != std::string_view::npos))
        return !other.memory.empty();
    }
    return !memory.empty() && other.memory.find('*') != std::string_view::npos;
  }
};

namespace detail {

inline std::string_view trimmed(std::string_view s) {
  while (s.starts_with(' ')) s.remove_prefix(1);
  while (s.ends_with(' ')) s.remove_suffix(1);
  return s;
}

/// Calls `f(i, depth)` for each character outside quotes until it returns true; returns that
/// position.
template <class F>
size_t find_in_schema(std::string_view text, F f) {
  int depth = 0;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '"' || c == '\'') quote = c;
    if (f(i, depth)) return i;
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
  }
  return text.size();
}

inline SchemaItem schema_item(std::string_view text) {
  text = text.substr(0, find_in_schema(text, [&](size_t i, int) { return text[i] == '='; }));
  text = trimmed(text);
  SchemaItem out;
  size_t space = text.size();
  find_in_schema(text, [&](size_t i, int depth) {
    if (depth == 0 && text[i] == ' ') space = i;
    return false;
  });
  out.type = trimmed(text.substr(0, space));
  out.name = trimmed(text.substr(space));
  const auto open = out.type.find("Tensor(");
  if (open == std::string_view::npos) return out;
  auto letters = out.type.substr(open + 7);
  letters = letters.substr(0, letters.find(')'));
  letters = trimmed(letters.substr(0, letters.find("->")));
  out.written = letters.ends_with('!');
  out.memory = letters.substr(0, letters.find('!'));
  return out;
}

/// The items of "Tensor x, *, int n=1) -> …", up to its ")".
inline std::vector<SchemaItem> schema_items(std::string_view text) {
  std::vector<SchemaItem> out;
  size_t begin = 0;
  find_in_schema(text, [&](size_t i, int depth) {
    if (depth != 0 || (text[i] != ',' && text[i] != ')')) return false;
    const auto part = trimmed(text.substr(begin, i - begin));
    if (!part.empty() && part != "*") out.push_back(schema_item(part));
    begin = i + 1;
    return text[i] == ')';
  });
  return out;
}

}  // namespace detail

/// The arguments and results of a schema. Views its text. A text that is
/// not a schema has neither.
struct Schema {
  explicit Schema(std::string_view text) {
    const auto open = text.find('(');
    if (open == std::string_view::npos) return;
    arguments = detail::schema_items(text.substr(open + 1));
    // The arrow after the arguments: `Tensor(a -> *)` has one, too.
    const auto after = text.substr(open);
    const auto close = detail::find_in_schema(
        after, [&](size_t i, int depth) { return depth == 1 && after[i] == ')'; });
    const auto arrow = after.find("->", close);
    if (arrow == std::string_view::npos) return;
    const auto given = detail::trimmed(after.substr(arrow + 2));
    if (given.starts_with('('))
      results = detail::schema_items(given.substr(1));
    else if (!given.empty())
      results.push_back(detail::schema_item(given));
  }
  std::vector<SchemaItem> arguments, results;
};

/// The argument names of "acme::f(Tensor x, int[] dims=[1, 2], *, bool fast=False) -> Tensor".
inline std::vector<std::string_view> schema_arguments(std::string_view schema) {
  std::vector<std::string_view> out;
  for (const auto& a : Schema(schema).arguments) out.push_back(a.name);
  return out;
}

/// The number of results: 2 for "… -> (Tensor, Tensor(a!)[])".
inline size_t schema_results(std::string_view schema) { return Schema(schema).results.size(); }

TMETER_SDK_END
