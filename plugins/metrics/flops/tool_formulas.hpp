// One function per formula of tools.cpp. `macs` are those of the node.
#pragma once
#include "ops/shapes.hpp"

namespace flops {

using Formula = Count (*)(const Node&, Count macs);

/// Elements of the input or of the result, times a number.
template <int64_t factor>
Count in(const Node& n, Count) {
  return data(n).numel() * factor;
}
template <int64_t factor>
Count out(const Node& n, Count) {
  return output(n).numel() * factor;
}
/// Elements of the input times one of two numbers: with weight, or without.
template <int64_t with, int64_t without>
Count in_by_weight(const Node& n, Count) {
  return data(n).numel() * (has_tensor(n, {"weight"}) ? with : without);
}

Count in_and_out(const Node& n, Count);
Count out_by_window_minus_1(const Node& n, Count);
/// window - 1 additions and a division count as torchmeter has them: 2 (window - 1) + 1.
Count out_by_twice_window_minus_1(const Node& n, Count);
/// n multiplications and n - 1 additions for each result, and one more with a bias.
Count twice_without_first_addition(const Node& n, Count macs);
/// The same without the addition of the bias.
Count twice_without_first_addition_or_bias(const Node& n, Count macs);
/// window - 1 additions and a division for each result.
Count out_by_window(const Node& n, Count);
/// n exponentials, n - 1 additions and n divisions for each n that are normalised together.
Count softmax_3n_minus_1(const Node& n, Count);
/// nn.ReLU6 is exported as hardtanh from 0 to 6: one per element. Any other hardtanh: 0.
Count relu6(const Node& n, Count);

Count macs_and_bias(const Node& n, Count macs);
Count batch_times_parameters(const Node& n, Count);

// ptflops' nn.MultiheadAttention: scaling of the query, one per score for the softmax.
Count macs_scores_and_query(const Node& n, Count macs);
Count ptflops_fused_attention(const Node& n, Count macs);

Count thop_recurrent(const Node& n, Count macs);
Count ptflops_recurrent(const Node& n, Count macs);
Count torchinfo_recurrent(const Node& n, Count macs);

}  // namespace flops
