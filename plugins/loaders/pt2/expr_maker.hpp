// ExprMaker: builds an Expr bottom-up, folding constants. Used by the parser and its functions.
#pragma once
#include <initializer_list>
#include <map>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_map>

#include "expr.hpp"

namespace pt2 {

/// A value between integers: num / den. Whole numbers have den 1.
struct Fraction {
  Expr::Ref num, den;
};

class ExprMaker {
 public:
  using Ref = Expr::Ref;

  Ref integer(int64_t value);
  Ref symbol(std::string_view name, bool non_negative);
  /// `op` is TMETER_EXPR_…; constants are folded, neutral elements of sums and products dropped.
  /// Throws ExprError when the expression grows beyond what a file can mean.
  Ref apply(int32_t op, std::span<const Ref> operands);
  Ref apply(int32_t op, std::initializer_list<Ref> operands) {
    return apply(op, std::span(operands.begin(), operands.size()));
  }

  Fraction whole(Ref r) { return {r, integer(1)}; }
  /// The fraction with the smallest denominator that is this floating-point number.
  Fraction real(double value);
  Fraction ratio(Ref num, Ref den);

  std::optional<int64_t> constant(Ref r) const;
  bool is_one(Ref r) const { return constant(r) == 1; }
  bool non_negative(Ref r) const { return info_[r].non_negative; }
  /// The value as an integer; throws if it is a fraction.
  Ref whole_ref(Fraction f) const;

  Expr finish(Fraction root);

 private:
  struct Info {
    uint64_t tree_size;  // nodes of the tree without sharing
    bool non_negative;
  };
  Ref push(Expr::Node node, Info info);
  std::optional<int64_t> fold(int32_t op, std::span<const Ref> operands) const;
  bool stays_non_negative(int32_t op, std::span<const Ref> operands) const;

  Expr expr_;
  std::vector<Info> info_;
  std::map<int64_t, Ref> integers_;
  std::unordered_map<std::string_view, Ref, tmeter::TextHash> symbols_;
};

// The functions of sympy and torch.utils._sympy.functions that sizes are written with.

using ExprFunction = Fraction (*)(ExprMaker&, std::span<const Fraction>);

struct ExprFunctionRow {
  std::string_view name;
  size_t least, most;  // arguments
  ExprFunction make;
};

/// Null when the function is not known or integers cannot express it (square roots, …).
const ExprFunctionRow* find_expr_function(std::string_view name);

// Functions that the infix operators of plain text call, too.
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
