// The convolutions and poolings of a graph with what pads their operands, and what their paddings
// must be once the operands have other sizes.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "known.hpp"
#include "same_padding.hpp"

namespace tmeter::resize {

/// What becomes of a padding for another size of the operand.
struct Repadding {
  std::optional<Literal> literal;  // for the node that has the numbers
  Sizes inserted;  // pads, as of constant_pad_nd, that the operand needs and no node has; or empty
  size_t count = 0;     // numbers that "same" padding makes others than recorded
  PadJudgement judged;  // kFixed: nothing is replaced, though it might have to be
};

/// An operator that pads with a constant: zeros, mostly.
bool is_padding(const Node& node);

class ConvPoolPadding {
 public:
  explicit ConvPoolPadding(const Graph& recorded);

  /// The tensor that is padded at this node, by an operator for that or by the window itself; none
  /// where nothing is.
  std::optional<Value> padded_at(const Node& node) const;

  /// None when the recorded numbers serve for this operand too, or surely do not follow it.
  std::optional<Repadding> repadded(const Node& node, const Sizes& operand) const;

 private:
  std::map<size_t, std::vector<PaddedWindow>> at_;  // by node that has the numbers
  PadEvidence evidence_;
};

}  // namespace tmeter::resize
