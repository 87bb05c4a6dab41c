// The caches of a graph's layers, as far as its operators show them.
#pragma once
#include "cache.hpp"
#include "plugins/common/decoder/decoder.hpp"

namespace serving {

/// One for each attention, in order of execution.
std::vector<LayerCache> layers_of(const plugins::Decoder& decoder);

}  // namespace serving
