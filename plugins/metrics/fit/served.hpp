// Serving a decoder language model: the largest loads, and the gains of other settings.
#pragma once
#include <tmeter/cpp/plugin.hpp>

#include "plugins/common/decoder/decoder.hpp"
#include "plugins/common/serving/serving.hpp"

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace fit {

/// `whole`: memory of one device of serving.devices.
void fit_serving(const tmeter::Graph& graph, const plugins::Decoder& decoder,
                 const serving::Serving& served, tmeter::Count whole, const tmeter::Call& call);

}  // namespace fit
#pragma GCC visibility pop
