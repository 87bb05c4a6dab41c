// The buffer that an engine reserves for the tensors of a step, if its rule is known.
#pragma once
#include <string>

#include "plugins/common/decoder/cost.hpp"
#include "plugins/common/serving/serving.hpp"

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace serving {

struct ComputeBuffer {
  tmeter::Count bytes = 0;
  std::string unavailable;  // why the value is missing; empty if it is known
};

/// llama.cpp reserves the graph of a whole batch with all of its outputs (graph_reserve of
/// llama-context.cpp). For a dense model with a large vocabulary, memory is largest at the end: the
/// float32 rows after the last norm and their logits,
///
///   4 · batch · (vocabulary + width)
///
/// tests/models/test_serving.py compares it with logs. If an earlier moment may be larger,
/// ggml-alloc decides, and the value is missing.
ComputeBuffer compute_buffer(const tmeter::Graph& graph, const plugins::Decoder& d,
                             const plugins::Cost& cost, const Serving& served);

}  // namespace serving
#pragma GCC visibility pop
