// The schema of an operator, "acme::f(Tensor x, int n=1) -> Tensor".
#pragma once
#include <string_view>
#include <vector>

#include "base.hpp"

TMETER_SDK_BEGIN

/// The argument names of "acme::f(Tensor x, int[] dims=[1, 2], *, bool fast=False) -> Tensor".
inline std::vector<std::string_view> schema_arguments(std::string_view schema) {
  std::vector<std::string_view> out;
  const auto add = [&](std::string_view part) {
    part = part.substr(0, part.find('='));
    while (part.ends_with(' ')) part.remove_suffix(1);
    const auto name = part.substr(part.find_last_of(" )") + 1);
    if (!name.empty() && name != "*") out.push_back(name);
  };
  const auto open = schema.find('(');
  size_t begin = open + 1;
  int depth = 0;
  for (size_t i = begin; open != std::string_view::npos && i < schema.size(); ++i) {
    const char c = schema[i];
    if (depth == 0 && (c == ',' || c == ')')) {
      add(schema.substr(begin, i - begin));
      begin = i + 1;
      if (c == ')') break;
    }
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
  }
  return out;
}

/// How many results it has: 2 of "… -> (Tensor, Tensor(a!)[])".
inline size_t schema_results(std::string_view schema) {
  const auto arrow = schema.rfind("->");
  auto text = arrow == std::string_view::npos ? std::string_view() : schema.substr(arrow + 2);
  while (text.starts_with(' ')) text.remove_prefix(1);
  if (!text.starts_with('(')) return text.empty() ? 0 : 1;
  size_t count = text.substr(1).starts_with(')') ? 0 : 1;
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    count += depth == 1 && c == ',' ? 1 : 0;
  }
  return count;
}

TMETER_SDK_END
