// Control flow of a graph: torch.cond and torch.while_loop, in the notation of the .pt2 loader
// (plugins/loaders/pt2/control_flow.cpp).
#pragma once
#include <string>
#include <vector>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

struct Region {
  bool is_loop = false;
  size_t begin = 0;          // its first node
  size_t body = 0, end = 0;  // of a loop
  bool taken = true;         // of a condition: the branch that the graph has
  Value condition;
  std::vector<Value> carried;  // from one iteration to the next: the first values
  std::vector<Value> results;  // their values for the next iteration
  std::string place;           // "torch.cond at net.py:12"
};

/// Regions in the order of their beginning, outer ones first. Throws TMETER_CANNOT_RUN if the graph
/// lacks the description of its control flow.
std::vector<Region> regions_of(const Graph& graph);

}  // namespace tmeter::torch_backend
