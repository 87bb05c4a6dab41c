// The options for the places of sensors, for plugins that read them.
#pragma once
#include <tmeter/cpp/plugin.hpp>

#include "energy_counters.hpp"
#include "plugins/common/options.hpp"

namespace sensors {

inline void add_place_options(tmeter::Registrar& r) {
  r.option(
      plugins::text_option("sensors-root", "folder that replaces / in /sys and /proc, for tests"));
  r.option(plugins::text_option("nvml", "NVIDIA's management library, by name or path",
                                "libnvidia-ml.so.1"));
}

/// The values of these options.
template <class Call>
Places places_of(const Call& call) {
  return {std::string(call.option_text("sensors-root")), std::string(call.option_text("nvml"))};
}

}  // namespace sensors
