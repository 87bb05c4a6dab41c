// Convolutions and poolings of a graph with the padding of their operands, and the padding they
// need for operands of other sizes.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "replayed_sizes.hpp"
#include "same_padding.hpp"

namespace tmeter::resize {

/// New padding for another size of the operand.
struct Repadding {
  std::optional<Literal> literal;  // for the node with the padding
  Sizes inserted;                  // pads for a new constant_pad_nd before the node; may be empty
  size_t count = 0;                // numbers in which "same" padding differs from the recorded one
  PaddingEstimate estimate;        // kFixed: nothing is replaced
};

/// Whether the operator pads with a constant.
bool is_padding(const Node& node);

class ConvPoolPadding {
 public:
  explicit ConvPoolPadding(const Graph& recorded);

  /// The tensor that the node pads, as a separate operator or by its own argument; empty for
  /// other nodes.
  std::optional<Value> padded_at(const Node& node) const;

  /// Empty if the recorded padding fits this operand too, or is certainly fixed.
  std::optional<Repadding> repadded(const Node& node, const Sizes& operand) const;

 private:
  std::map<size_t, std::vector<PaddedWindow>> at_;  // by node with the padding
  PaddingEvidence evidence_;
};

}  // namespace tmeter::resize
