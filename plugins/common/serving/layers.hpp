// The caches of a graph's layers, derived from its operators.
#pragma once
#include "plugins/common/decoder/decoder.hpp"
#include "plugins/common/serving/engine.hpp"

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace serving {

/// One for each attention, in order of execution.
std::vector<LayerCache> layers_of(const plugins::Decoder& decoder);

}  // namespace serving
#pragma GCC visibility pop
