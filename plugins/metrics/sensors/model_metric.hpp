// The descriptor of a metric that sensors measure for the whole model.
#pragma once
#include <tmeter/cpp/plugin.hpp>

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

}  // namespace sensors
