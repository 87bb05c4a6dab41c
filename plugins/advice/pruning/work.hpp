// What a weight is worth in arithmetic: the multiply-accumulates of the operators that use it.
#pragma once
#include <tmeter/cpp/plugin.hpp>
#include <vector>

namespace pruning {

/// By tensor; empty when the file has no operators or no plugin counts them.
std::vector<double> macs_by_tensor(const tmeter::Graph& graph, const tmeter::Call& call);

}  // namespace pruning
