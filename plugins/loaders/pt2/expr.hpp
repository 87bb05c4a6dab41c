// Expr: one dim or size as .pt2 files record it, an expression over symbols.
//
// Files hold sympy text: `Mul(Integer(2), Symbol('s77', positive=True, integer=True))`, sometimes
// plain `2*s77`. The parsed nodes have integers and the operators of the graph builder
// (abi/builder.h), so that they can be passed to the host unchanged. Fractions
// (`TruncToInt(Mul(Float('1.5'), ToFloat(s)))`) stay exact and are never rounded early.
//
// Needs no host. An Expr owns its nodes; the names of its symbols are views into the parsed text.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace pt2 {

/// The text is malformed, too large, or uses a function that integers cannot express.
class ExprError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Expr {
 public:
  using Ref = uint32_t;  // index of a node; operands precede the node that uses them

  struct Node {
    int32_t op;             // kInteger, kSymbol or TMETER_EXPR_…
    int64_t value;          // the integer, or the index of the symbol
    uint32_t first, count;  // operands
  };
  static constexpr int32_t kInteger = 0, kSymbol = -1;

  struct Ratio {
    int64_t num, den;  // den > 0
  };

  /// Throws ExprError.
  static Expr parse(std::string_view text);

  const std::vector<Node>& nodes() const { return nodes_; }
  std::span<const Ref> operands(const Node& n) const {
    return std::span(operands_).subspan(n.first, n.count);
  }
  const std::vector<std::string_view>& symbols() const { return symbols_; }
  Ref num() const { return num_; }
  Ref den() const { return den_; }

  /// The whole expression is one symbol.
  bool is_symbol() const { return nodes_[num_].op == kSymbol && is_whole(); }
  bool is_whole() const { return nodes_[den_].op == kInteger && nodes_[den_].value == 1; }
  /// Contains a fraction like 0.7, with which torch computes in floating point; its sizes may be
  /// smaller by one.
  bool is_rounded() const { return rounded_; }

  /// The value for values of symbols(); none on overflow, division by zero, or if it is not exact.
  std::optional<Ratio> evaluate(std::span<const int64_t> values) const;

 private:
  friend class ExprMaker;
  std::vector<Node> nodes_;
  std::vector<Ref> operands_;
  std::vector<std::string_view> symbols_;
  Ref num_ = 0, den_ = 0;
  bool rounded_ = false;
};

/// An operator on integers; none if the result does not exist or exceeds 63 bits.
std::optional<int64_t> apply_operator(int32_t op, std::span<const int64_t> operands);

}  // namespace pt2
