// The rules. docs/conventions.md, "Parallelism", has them as a table.
#pragma once
#include "plugins/advice/common/gains.hpp"

#pragma GCC visibility push(hidden)
namespace parallelism {

struct Model {
  const tmeter::Graph& graph;
  tmeter::Call& call;
  advice::Ledger& ledger;
};

inline constexpr const char* kBatchEfficiency = "batch_efficiency";

/// Emits kBatchEfficiency. How much a larger batch would give, until the machine is busy or full.
void say_batch(Model& model);
/// Operators whose call takes longer than their work.
void say_overhead(Model& model);
/// Fewer threads than it ran on, where runs were measured on several numbers of them.
void say_threads(const Model& model);
/// Elementwise operators of so few numbers that PyTorch runs them on one thread.
void say_serial(Model& model);

}  // namespace parallelism
#pragma GCC visibility pop
