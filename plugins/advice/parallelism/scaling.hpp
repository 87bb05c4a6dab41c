// How time and memory of a model grow with its batch. Numbers alone: no host.
//
//   time(n) = Σ max(n · arithmetic, weights + n · activations) + overhead
//
// for n times the present batch, over the operators that see the inputs; what is worked out from
// parameters alone does not grow.
#pragma once
#include <cstdint>
#include <vector>

#pragma GCC visibility push(hidden)
namespace parallelism {

/// One operator: seconds of its arithmetic, of moving its weights, and of moving the rest.
struct Work {
  double arithmetic = 0, weights = 0, activations = 0;
};

struct Scaling {
  std::vector<Work> operators;
  double overhead = 0;  // s, of each operator
  double fixed = 0;     // s, of all that does not grow

  /// Seconds of one run with n times the batch.
  double time(double n) const;
  /// Seconds of the present batch in an endless one: what a larger batch can reach.
  double limit() const;
  /// How much of what an endless batch reaches, 0 … 1.
  double efficiency(double n) const;
};

/// Bytes: `fixed` (parameters, buffers) and `per_batch` (activations at their peak), of a machine
/// with `capacity`; 0: unknown.
struct Memory {
  double fixed = 0, per_batch = 0, capacity = 0;
  double at(double n) const { return fixed + n * per_batch; }
  bool fits(double n) const { return capacity <= 0 || at(n) <= capacity; }
};

/// The smallest power of two that reaches `share` of what an endless batch does, or the largest
/// that still fits; at most 2^20.
struct Choice {
  int64_t factor = 1;
  bool memory_ends_it = false;
};
Choice choose(const Scaling& scaling, const Memory& memory, double share);

}  // namespace parallelism
#pragma GCC visibility pop
