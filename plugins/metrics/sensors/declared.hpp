// What plugins that read sensors declare alike: metrics of the whole model, and the options of the
// places that are searched for sensors.
#pragma once
#include <tmeter/cpp/plugin.hpp>

#include "energy_counters.hpp"

namespace sensors {

inline tmeter::MetricSpec model_metric(std::string_view id, std::string_view title,
                                       std::string_view unit, int32_t unit_kind,
                                       std::string_view convention) {
  return {.id = id,
          .title = title,
          .unit = unit,
          .unit_kind = unit_kind,
          .axis = TMETER_AXIS_MODEL,
          .aggregation = TMETER_AGGREGATE_NONE,
          .flags = TMETER_METRIC_DETAIL,
          .convention = convention};
}

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
