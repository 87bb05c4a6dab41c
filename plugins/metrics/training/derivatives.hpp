// The arguments of an operator that have a gradient, and the tensors that autograd keeps to compute
// it.
//
// The rows are torch's derivatives.yaml (derivatives_data.inc, written by generate_derivatives.py).
// Operators that torch composes of others, as `aten::linear` of `aten::addmm`, have rows of our own
// in composites.cpp, which come first.
#pragma once
#include <string_view>

namespace training {

struct Derivative {
  std::string_view op;      // "mul.Tensor", without namespace
  std::string_view inputs;  // arguments with a gradient, separated by spaces
  /// Separated by spaces: an argument or "#1", the second result; then "<" and the arguments
  /// (separated by commas) of which one must want a gradient for it to be kept. None behind "<":
  /// any.
  std::string_view kept;
};

/// Null when torch has no formula: it is composed of other operators, has no gradient, or is unknown.
/// `op` is "aten::mul", `overload` "Tensor"; an in-place operator without a row of its
/// own has that of its base.
const Derivative* find_derivative(std::string_view op, std::string_view overload);

/// Calls `f(word)` for each of the words, which single spaces separate.
template <class F>
void for_each_word(std::string_view words, const F& f, char separator = ' ') {
  while (!words.empty()) {
    const auto end = words.find(separator);
    f(words.substr(0, end));
    words = end == std::string_view::npos ? std::string_view() : words.substr(end + 1);
  }
}

inline bool has_word(std::string_view words, std::string_view wanted, char separator = ' ') {
  bool found = false;
  for_each_word(
      words, [&](std::string_view word) { found = found || word == wanted; }, separator);
  return found;
}

}  // namespace training
