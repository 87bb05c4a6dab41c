// The metrics of fit, and the finding: whether the model fits, by how much, and its largest part.
#pragma once
#include <optional>
#include <string>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "plugins/common/model_metrics.hpp"

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace fit {

using plugins::emit_total;
using plugins::emit_unavailable;

struct Part {
  std::string_view id;  // id of its metric
  std::string name;     // "weights"
  tmeter::Count bytes;
};

/// The memory that a use of the model needs.
struct Need {
  std::string subject;  // "serving 8 sequences of 4096 tokens"
  std::vector<Part> parts;
  std::string leaves_out;            // memory that is not in the parts
  std::optional<int64_t> devices{};  // the smallest sufficient number; empty: no number suffices

  tmeter::Count all() const;
  const Part& largest() const;
};

void register_metrics(tmeter::Registrar& r);
/// The ids of all, separated by spaces.
std::string_view metric_ids();

/// The memory of the devices.
struct Memory {
  tmeter::Count each;
  int64_t devices = 1;

  tmeter::Count all() const { return each * devices; }
  std::string text() const;  // "74.51 GiB", "4 × 74.51 GiB"
};

/// Emits the values and the finding for the unchanged model.
void judge(const Need& need, const Memory& memory, const tmeter::Call& call);

/// A finding on a change of `fit_bytes` from `from` to `to`.
void advise(const tmeter::Call& call, bool fits, const std::string& text,
            const std::string& evidence, const std::string& action, tmeter::Count from,
            tmeter::Count to);

/// Other weights for the same model: "weights in 8 bits".
struct SmallerWeights {
  std::string what, evidence, action;
  tmeter::Count bytes;
};
/// Weights in 16, 8 and 4 bits, and by the plan of quantization-advice if it runs. Only choices
/// that save a tenth of `stored` or more, because scales take memory, too.
std::vector<SmallerWeights> smaller_weights(const tmeter::Graph& graph, tmeter::Count stored,
                                            const tmeter::Call& call);

}  // namespace fit
#pragma GCC visibility pop
