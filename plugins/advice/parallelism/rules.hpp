// The rules. docs/conventions.md, "Parallelism", lists them.
#pragma once
#include <cstdint>
#include <vector>

#include "plugins/advice/common/savings.hpp"

#pragma GCC visibility push(hidden)
namespace parallelism {

struct Model {
  const tmeter::Graph& graph;
  tmeter::Call& call;
  advice::SavingsEstimator& estimator;
};

inline constexpr const char* kBatchEfficiency = "batch_efficiency";

/// The throughput of a larger batch, until the machine is busy or its memory full; emits
/// kBatchEfficiency.
void report_batch(Model& model);
/// Operators whose call overhead exceeds their run time.
void report_overhead(Model& model);
/// A smaller number of threads, if runs on several numbers of threads were measured.
void report_threads(const Model& model);
/// Elementwise operators with so few elements that PyTorch runs them on one thread.
void report_serial(Model& model);

// Time and memory of a model as functions of its batch size. Needs no host.
//
//   time(n) = Σ max(n · arithmetic, weights + n · activations) + overhead
//
// for n times the present batch, over the operators that depend on the inputs. The time of
// operators on parameters only is fixed.

/// One operator: seconds for its arithmetic, for moving its weights, and for other traffic.
struct Work {
  double arithmetic = 0, weights = 0, activations = 0;
};

struct Scaling {
  std::vector<Work> operators;
  double overhead = 0;  // s, of each operator
  double fixed = 0;     // s, of operators on parameters only

  /// Seconds of one run with n times the batch.
  double time(double n) const;
  /// Seconds per present batch in an infinite batch: a bound for larger batches.
  double limit() const;
  /// Throughput divided by that of an infinite batch, 0 … 1.
  double efficiency(double n) const;
};

/// Bytes: `fixed` for parameters and buffers, `per_batch` for activations at their peak, and the
/// machine's `capacity`, 0 if unknown.
struct Memory {
  double fixed = 0, per_batch = 0, capacity = 0;
  double at(double n) const { return fixed + n * per_batch; }
  bool fits(double n) const { return capacity <= 0 || at(n) <= capacity; }
};

/// The smallest power of two with an efficiency of `share`, or the largest that fits; at most 2^20.
struct Choice {
  int64_t factor = 1;
  bool limited_by_memory = false;
};
Choice choose(const Scaling& scaling, const Memory& memory, double share);

}  // namespace parallelism
#pragma GCC visibility pop
