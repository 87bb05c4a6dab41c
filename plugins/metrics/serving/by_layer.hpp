// Columns of the modules: the memory, work and traffic of each layer in a step of prefill and of
// decoding. The sums are the values of the model.
#pragma once
#include "plugins/common/decoder/cost.hpp"
#include "plugins/common/serving/engine.hpp"

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace serving {

void register_layers(tmeter::Registrar& r);
/// The ids of all, separated by spaces.
std::string layer_ids();

/// All columns are missing.
void report_no_layers(const tmeter::Call& call, const std::string& why);
/// Keys, values and states.
void report_layer_bytes(const tmeter::Graph& graph, const plugins::Decoder& d,
                        const CacheBytes& bytes, const tmeter::Call& call);
/// MACs and bytes of the prefill and of one more token of every sequence.
void report_steps(const tmeter::Graph& graph, const plugins::Decoder& d, const plugins::Cost& cost,
                  const Load& load, const CacheBytes& kept, const tmeter::Call& call);

}  // namespace serving
#pragma GCC visibility pop
