// Mixture of experts: the parameters that one token uses, and the parameters of all experts.
#pragma once
#include <optional>
#include <string>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace plugins {

/// One router with its experts.
struct Router {
  tmeter::Node topk;
  int64_t experts, chosen;
  std::vector<tmeter::Tensor> weights;  // weights of all its experts
  std::string how;                      // the rule that recognised them, in words
};

std::vector<Router> find_routers(const tmeter::Graph& graph);

/// Elements or bytes of the parameters of all experts, and of the experts that one token uses.
struct Parameters {
  tmeter::Count all = 0, active = 0;
};
Parameters count_parameters(const tmeter::Graph& graph, const std::vector<Router>& routers);

/// Elements of all parameters, each storage once.
tmeter::Count stored_elements(const tmeter::Graph& graph);

/// Bytes of the parameters that an operator reads; each parameter counts at its first reader.
struct ReadBytes {
  tmeter::Node node;
  tmeter::Count bytes;
};

/// Bytes of a decoding step, without embedding tables. With uniform routing, a batch of B tokens
/// chooses E · (1 − (1 − k/E)^B) of E experts. Empty if an element type is unknown.
std::optional<std::vector<ReadBytes>> reads_of(const tmeter::Graph& graph,
                                               const std::vector<Router>& routers,
                                               int64_t batch = 1);
/// The sum of reads_of.
std::optional<tmeter::Count> bytes_read(const tmeter::Graph& graph,
                                        const std::vector<Router>& routers, int64_t batch = 1);

}  // namespace plugins
#pragma GCC visibility pop
