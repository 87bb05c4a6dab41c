// The speed of serving a decoder on the hardware profile of the run: at best, by the roofline
// of a whole step, and as expected, by curves fitted on published measurements.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "plugins/common/decoder/cost.hpp"
#include "plugins/common/machine/curves.hpp"
#include "plugins/common/serving/engine.hpp"

namespace serving {

/// The arithmetic and traffic of a step.
struct StepWork {
  double macs = 0, bytes = 0;
  double tokens = 0, sequences = 0;
};

/// A decoder by the numbers that its steps depend on.
struct Speeds {
  double token_macs = 0;                                  // of one token without attention
  double attention_macs = 0;                              // of one token and one token of context
  double weight_bytes = 0;                                // of all parameters
  double products = 0;                                    // operators with MACs in a step
  double layers = 0, width = 0;                           // layers with a cache; embedding
  std::function<double(int64_t sequences)> weights_read;  // by one step of decoding

  /// Every token attends to its whole prompt: attention counts in full.
  StepWork prefill(const Load& load, double cache_bytes) const;
  /// `each` tokens of every sequence, which read its whole cache once.
  StepWork decode(const Load& load, double cache_bytes, int64_t each = 1) const;
};

/// Rates of a hardware profile.
struct Rates {
  double macs = 0, bytes = 0;  // per second

  /// The best case, on devices that share the work evenly.
  double seconds(const StepWork& w, double devices) const;
};

/// Steps on devices that share every product evenly (tensor parallelism) and add up the results of
/// attention and feed-forward of each layer.
class Steps {
 public:
  Steps(machine::Machine& machine, const machine::Curves& curves, const tmeter::Call& call,
        tmeter::DType type, double devices, double sequence_seconds)
      : machine_(machine),
        curves_(curves),
        call_(call),
        type_(type),
        devices_(devices),
        sequence_seconds_(sequence_seconds) {}

  /// Treats all products alike and adds the engine's own work for each sequence. Nothing: the
  /// profile has no curve for the element type, or no `link.bandwidth` for several devices.
  std::optional<machine::Expected> expected(const Speeds& s, const StepWork& w) const;

 private:
  machine::Machine& machine_;
  const machine::Curves& curves_;
  const tmeter::Call& call_;
  tmeter::DType type_;
  double devices_, sequence_seconds_;  // the engine's own work for a sequence in a step
};

}  // namespace serving
