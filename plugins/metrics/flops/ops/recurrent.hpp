// Shared by recurrent layers and single cells: operations per hidden unit and step.
#pragma once
#include <optional>

#include "activations.hpp"
#include "shapes.hpp"

namespace flops {

/// One kind of recurrent cell. The gate equations are those of the torch.nn documentation; x and h
/// stand for the two matrix products, which count as MACs.
struct GateCosts {
  int64_t gates;       // hidden-size blocks in a weight
  int64_t arithmetic;  // per hidden unit and step, without biases
  int64_t biases;      // additions per hidden unit and step when there are biases
};

// LSTM: four sums x + h, three sigmoids, tanh(g), f*c + i*g, o * tanh(c).
inline constexpr GateCosts kLstm{4, 4 + 3 * kSigmoidCost + kTanhCost + 3 + kTanhCost + 1, 8};
// GRU: two sums and sigmoids, tanh(x + r*h), (h - n)*z + n.
inline constexpr GateCosts kGru{3, 2 + 2 * kSigmoidCost + 2 + kTanhCost + 3, 6};
// RNN: tanh or relu of x + h.
inline constexpr GateCosts kRnn{1, 1 + kTanhCost, 2};

/// Sequence steps of all batch entries together: the input without its last dim. True for
/// [T, B, I], [B, T, I], unbatched [T, I] and packed [sum of lengths, I] alike.
inline Count steps(const Value& input) {
  const auto s = input.shape();
  if (s.empty()) throw Unsupported("a recurrent layer over a scalar");
  return s.product(0, s.rank() - 1);
}

/// Sizes of a recurrent layer or cell for the formulas of other tools.
struct Recurrence {
  Count unit_steps;  // hidden units of all layers and directions × sequence steps × batch
  int64_t gates;
  bool biases;
};

/// Of lstm, gru, rnn_* and their cells; nothing for any other operator.
std::optional<Recurrence> recurrence_of(const Node& n);

}  // namespace flops
