// Multiply-accumulates of one decoded token.
#pragma once
#include "plugins/common/decoder.hpp"

namespace language_model {
using plugins::Decoder;


struct Cost {
  tmeter::Count all = 0;    // of the graph as recorded: the prefill
  tmeter::Count token = 0;  // of one more token of one sequence, at a context as long as recorded
  bool known = true;  // false: an operator without a rule, or none that scales with the tokens
};

Cost cost_of(const tmeter::Graph& graph, const Decoder& decoder, tmeter::Call& call);

}  // namespace language_model
