// Multiply-accumulates of one decoded token.
#pragma once
#include <vector>

#include "plugins/common/decoder/decoder.hpp"

#pragma GCC visibility push(hidden)  // as the SDK types inside
namespace plugins {

/// Of one operator.
struct TokenCost {
  tmeter::Node node;
  tmeter::Count macs;  // of one token, at a context as long as recorded
  bool grows;          // with the context
};

struct Cost {
  tmeter::Count all = 0;    // of the graph as recorded: the prefill
  tmeter::Count token = 0;  // of one more token of one sequence, at a context as long as recorded
  tmeter::Count token_attention = 0;  // the part of `token` that grows with the context
  bool token_known = true;  // false: layers with a recurrent state run otherwise token by token
  bool known = true;  // false: an operator without a rule, or none that scales with the tokens
  std::vector<TokenCost> operators{};  // with MACs of a token
};

Cost cost_of(const tmeter::Graph& graph, const Decoder& decoder, tmeter::Call& call);

}  // namespace plugins
#pragma GCC visibility pop
