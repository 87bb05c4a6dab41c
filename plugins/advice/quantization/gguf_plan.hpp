// The plan for a GGUF file of unpacked weights, as arguments of llama-quantize.
#pragma once
#include "findings.hpp"

#pragma GCC visibility push(hidden)
namespace quantization {

/// Reports nothing for other files, or for a file of packed weights. Each weight gets the smallest
/// type whose estimated SQNR is at least that of the rules or, when `most_bytes` is not 0, the
/// types with the highest least SQNR whose tensors fit in it.
void report_gguf_plan(const Collection& reports, const Settings& settings, int64_t most_bytes,
                      const tmeter::Graph& graph, tmeter::Call& call);

}  // namespace quantization
#pragma GCC visibility pop
