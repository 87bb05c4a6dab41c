// Multiply-accumulates of one decoded token.
#pragma once
#include <vector>

#include "plugins/common/decoder/decoder.hpp"

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace plugins {

/// MACs of one operator.
struct TokenCost {
  tmeter::Node node;
  tmeter::Count macs;  // of one token, at the recorded context
  bool grows;          // with the context
};

struct Cost {
  tmeter::Count all = 0;              // of the recorded graph: the prefill
  tmeter::Count token = 0;            // of one more token of one sequence, at the recorded context
  tmeter::Count token_attention = 0;  // the part of `token` that grows with the context
  /// False: layers with a recurrent state run differently token by token.
  bool is_token_complete = true;
  bool is_complete = true;  // false: an operator has no rule, or none scales with the tokens
  std::vector<TokenCost> operators{};  // operators with MACs per token
};

Cost cost_of(const tmeter::Graph& graph, const Decoder& decoder, tmeter::Call& call);

}  // namespace plugins
#pragma GCC visibility pop
