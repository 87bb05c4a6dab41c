// How fast a decoder can be served at best: the roofline of a whole step, on the hardware profile
// of the run.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "plugins/common/decoder/cost.hpp"
#include "plugins/common/serving/engine.hpp"

namespace serving {

/// What a step computes and moves.
struct StepWork {
  double macs = 0, bytes = 0;
};

/// A decoder by the numbers that its steps depend on.
struct Speeds {
  double token_macs = 0;                                  // of one token but for attention
  double attention_macs = 0;                              // of one token and one token of context
  double weight_bytes = 0;                                // of all parameters
  std::function<double(int64_t sequences)> weights_read;  // by one step of decoding

  /// All tokens of the prompts meet all of their own prompt: attention in full.
  StepWork prefill(const Load& load, double cache_bytes) const;
  /// One token of each sequence, which reads its whole cache.
  StepWork decode(const Load& load, double cache_bytes) const;
};

/// Rates of a hardware profile.
struct Rates {
  double macs = 0, bytes = 0;  // per second

  double seconds(const StepWork& w) const;
};

}  // namespace serving
