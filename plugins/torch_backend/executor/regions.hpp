// Parts of a graph that run once, several times or not at all: torch.cond and torch.while_loop, as the
// .pt2 loader notes them (plugins/loaders/pt2/control_flow.cpp tells the form).
#pragma once
#include <string>
#include <vector>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

struct Region {
  bool is_loop = false;
  size_t begin = 0;            // its first node
  size_t body = 0, end = 0;    // of a loop
  bool taken = true;           // of a condition: the way that the graph has
  Value condition;             // what decides
  std::vector<Value> carried;  // from one round to the next; at first these
  std::vector<Value> results;  // what the next round has for them
  std::string place;           // "torch.cond at net.py:12"
};

/// In the order in which they begin, outer ones first. Throws TMETER_CANNOT_RUN when the graph has
/// control flow that it does not describe.
std::vector<Region> regions_of(const Graph& graph);

}  // namespace tmeter::torch_backend
