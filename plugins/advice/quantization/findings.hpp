// The findings: the plan with its bytes, weights that stay unchanged and why, outlier channels, and
// weights with NaN or infinity.
#pragma once
#include "state.hpp"

#pragma GCC visibility push(hidden)
namespace quantization {

struct Settings {
  Rules rules;
  double outlier_ratio = 0;
};

/// One choice for each of `reports`.
struct Plan {
  std::vector<Choice> choices;
  int64_t bytes_before = 0, bytes_after = 0;  // bytes of all parameters; tied ones count once
  int64_t others = 0, other_bytes = 0;        // parameters other than weights
};

Plan plan_of(const tmeter::Graph& graph, const Collection& reports, const Rules& rules);

void report_findings(const Collection& reports, const Plan& plan, const Settings& settings,
                     const tmeter::Graph& graph, tmeter::Call& call);

// The plan for a GGUF file of unpacked weights, as arguments of llama-quantize.

/// Reports nothing for other files, or for a file of packed weights. Each weight gets the smallest
/// type whose estimated SQNR is at least that of the rules or, when `most_bytes` is not 0, the
/// types with the highest least SQNR whose tensors fit in it.
void report_gguf_plan(const Collection& reports, const Settings& settings, int64_t most_bytes,
                      const tmeter::Graph& graph, tmeter::Call& call);

}  // namespace quantization
#pragma GCC visibility pop
