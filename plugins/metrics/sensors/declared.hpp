// The options that name the places of sensors, for plugins that read them.
#pragma once
#include <tmeter/cpp/plugin.hpp>

#include "energy_counters.hpp"

namespace sensors {

inline void add_place_options(tmeter::Registrar& r) {
  r.option({.key = "sensors-root",
            .default_value = "",
            .text = "folder that replaces / in /sys and /proc, for tests"});
  r.option({.key = "nvml",
            .default_value = "libnvidia-ml.so.1",
            .text = "NVIDIA's management library, by name or path"});
}

/// The values of these options.
template <class Call>
Places places_of(const Call& call) {
  return {std::string(call.option_text("sensors-root")), std::string(call.option_text("nvml"))};
}

}  // namespace sensors
