// What autograd keeps for the backward, by the node that is the first to keep it.
#pragma once
#include <optional>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "placement.hpp"

namespace training {

/// By node: bytes of the storages that it is the first to keep; empty where that is unknown.
std::vector<std::optional<tmeter::Count>> saved_bytes(const tmeter::Graph& graph,
                                                      const Gradients& gradients,
                                                      const Settings& settings);

}  // namespace training
