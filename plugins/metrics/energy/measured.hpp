// The part of `energy` that measures: an observer that reads the machine's energy counters around
// runs. Its metrics are separate from those of the estimate.
#pragma once
#include <tmeter/cpp/plugin.hpp>

namespace energy {

void register_measured(tmeter::Registrar& r);

}  // namespace energy
