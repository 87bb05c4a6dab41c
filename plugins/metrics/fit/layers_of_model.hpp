// The repeated layers of a decoder, with the weights and caches that move together to another
// memory.
#pragma once
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "plugins/common/decoder/decoder.hpp"
#include "plugins/common/serving/engine.hpp"

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace fit {

/// The name of a layer in a list of them: "7".
bool is_number(std::string_view name);

/// Bytes of each numbered module around an attention, including its caches; empty if there are
/// no such modules or their weights are unknown.
std::vector<tmeter::Count> layer_bytes(const plugins::Decoder& decoder,
                                       const serving::CacheBytes& caches, const tmeter::Call& call);

}  // namespace fit
#pragma GCC visibility pop
