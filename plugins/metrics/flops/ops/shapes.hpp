// Reading a node's arguments the way cost rules need them.
//
// A rule that lacks an operand (a packed weight, a result other than a tensor) throws
// `Unsupported`: the node is then listed as unknown instead of being counted wrongly.
#pragma once
#include "ops.hpp"

namespace flops {

using tmeter::Cell;
using tmeter::Count;
using tmeter::Node;
using tmeter::Shape;
using tmeter::Value;

class Unsupported : public tmeter::Error {
 public:
  explicit Unsupported(const std::string& what) : Error(TMETER_UNSUPPORTED, what) {}
};

/// The tensor argument under the first of `names` that the node has. Schemas call it `input`,
/// `self`, `X` or `qx`.
inline Value tensor_arg(const Node& n, Names names) {
  for (const auto name : names)
    if (const auto v = n.arg(name); v.is_tensor()) return v;
  throw Unsupported(std::string(n.op()) + " has no tensor " + std::string(*names.begin()));
}

inline bool has_tensor(const Node& n, Names names) {
  for (const auto name : names)
    if (n.arg(name).is_tensor()) return true;
  return false;
}

/// The tensor that flows through the operator.
inline Value data(const Node& n) { return tensor_arg(n, {"input", "self", "X", "qx", "x"}); }

inline Value output(const Node& n) {
  const auto v = n.result(0);
  if (!v.is_tensor()) throw Unsupported(std::string(n.op()) + " has no tensor result");
  return v;
}

/// Elements of a tensor, or of all tensors of a list; 0 for anything else.
inline Count elements(const Value& v) {
  if (!v.is_list()) return v.numel();
  Count sum = 0;
  for (size_t i = 0; i < v.size(); ++i) sum += elements(v[i]);
  return sum;
}

/// A dim of a tensor with at least one dim, else 1, the size of a scalar.
inline Count last_dim(const Value& v) { return v.shape().empty() ? Count(1) : v.shape().back(); }

/// One addition per output element when there is a bias.
inline Count bias_adds(const Node& n) {
  return has_tensor(n, {"bias", "B"}) ? output(n).numel() : Count(0);
}

/// The whole part of `v`: for formulas with logarithms.
inline Count whole(double v) {
  if (!(v >= 0 && v < 9.2e18)) throw tmeter::Error(TMETER_BAD_MODEL, "a count exceeds 2^63");
  return static_cast<int64_t>(v);
}

}  // namespace flops
