// Facts about a call that conventions and the formulas of other tools need.
#pragma once
#include <optional>

#include "shapes.hpp"

namespace flops {

/// Multiply-accumulates per score: the widths of a query and of a value together. Empty when the
/// operator is not plain attention.
std::optional<Count> macs_per_score(const Node& n);

/// How many scores of a [queries, keys] matrix a causal mask leaves.
struct CausalShare {
  Count kept, all;
};

/// The causal layout of an attention with `is_causal`; empty if it is not known to be causal.
std::optional<CausalShare> causal_share(const Node& n);

/// nn.MultiheadAttention as one operator: additions for biases, scores, elements of the
/// query.
struct FusedAttention {
  Count biases, scores, query;
};
std::optional<FusedAttention> fused_attention(const Node& n);

/// Elements of one window of a pooling with a kernel over `dims` dims.
Count pooling_window(const Node& n, int64_t dims);

/// Sizes of a recurrent layer or cell for the formulas of other tools.
struct Recurrence {
  Count unit_steps;  // hidden units of all layers and directions × sequence steps × batch
  int64_t gates;
  bool biases;
};

/// Facts of lstm, gru, rnn_* and their cells; empty for all other operators.
std::optional<Recurrence> recurrence_of(const Node& n);

}  // namespace flops
