// The functions of sympy and torch.utils._sympy.functions that sizes are written with.
#pragma once
#include "expr_maker.hpp"

namespace pt2 {

using ExprFunction = Fraction (*)(ExprMaker&, std::span<const Fraction>);

struct ExprFunctionRow {
  std::string_view name;
  size_t least, most;  // arguments
  ExprFunction make;
};

/// Null when the function is not known or integers cannot express it (square roots, …).
const ExprFunctionRow* find_expr_function(std::string_view name);

// Also the infix operators of plain text.
Fraction add(ExprMaker&, std::span<const Fraction>);
Fraction multiply(ExprMaker&, std::span<const Fraction>);
Fraction subtract(ExprMaker&, std::span<const Fraction>);
Fraction divide(ExprMaker&, std::span<const Fraction>);
Fraction floor_divide(ExprMaker&, std::span<const Fraction>);
Fraction modulo(ExprMaker&, std::span<const Fraction>);
Fraction power(ExprMaker&, std::span<const Fraction>);
Fraction logical_and(ExprMaker&, std::span<const Fraction>);
Fraction logical_or(ExprMaker&, std::span<const Fraction>);
template <int32_t Op>
Fraction compare(ExprMaker&, std::span<const Fraction>);

/// value if condition else rest
Fraction choose(ExprMaker&, Fraction condition, Fraction value, Fraction rest);

}  // namespace pt2
