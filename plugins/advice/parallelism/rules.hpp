// The rules. docs/conventions.md, "Parallelism", lists them.
#pragma once
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

}  // namespace parallelism
#pragma GCC visibility pop
