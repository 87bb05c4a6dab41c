// The buffer that an engine reserves for what a step computes, where its rule is known.
#pragma once
#include <string>

#include "plugins/common/decoder/cost.hpp"
#include "plugins/common/serving/serving.hpp"

#pragma GCC visibility push(hidden)  // as the SDK types inside
namespace serving {

struct ComputeBuffer {
  tmeter::Count bytes = 0;
  std::string unavailable;  // why there is no figure; empty: there is one
};

/// llama.cpp reserves the graph of a whole batch with all of its outputs (graph_reserve of
/// llama-context.cpp). Of a dense model with a large vocabulary the largest moment is the last
/// one: the float32 rows behind the last norm and their logits,
///
///   4 · batch · (vocabulary + width)
///
/// tests/models/test_serving.py holds it to logs. Where another moment may be larger, ggml-alloc
/// decides, and there is no figure.
ComputeBuffer compute_buffer(const tmeter::Graph& graph, const plugins::Decoder& d,
                             const plugins::Cost& cost, const Serving& served);

}  // namespace serving
#pragma GCC visibility pop
