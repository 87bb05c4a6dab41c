// The memory and traffic of each of n devices in a step, for data parallelism in four degrees,
// tensor parallelism and pipelines. By formulas, without a simulation.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "gradients.hpp"
#include "saved.hpp"
#include "settings.hpp"

namespace training {

/// Bytes of one replica.
struct Replica {
  std::vector<tmeter::Count> weights, gradients, states;  // by tensor
  std::vector<tmeter::Count> saved;                       // by node
  std::vector<tmeter::Count> macs;                        // by node
  tmeter::Count buffers = 0, trained_weights = 0;         // bytes of the weights
  const Tape* tape = nullptr;
};

struct Shard {
  std::string_view name;
  tmeter::Count holds = 0;             // the fullest device: weights, gradients, states, saved
  std::optional<tmeter::Count> sends;  // a step; empty: the rule does not apply to this graph
  std::string formula;
};

std::vector<Shard> shards(const tmeter::Graph& graph, const Replica& replica, int64_t devices,
                          const Settings& settings);

}  // namespace training
