// What adds up, drawn as one bar: metrics with TMETER_METRIC_PART of one plugin, against its metric
// with TMETER_METRIC_CAPACITY.
#pragma once
#include <optional>
#include <string>
#include <tmeter/cpp/report.hpp>
#include <vector>

namespace reports {

struct Stack {
  std::vector<tmeter::Metric> parts;  // with a value above 0, in the order of the report
  std::vector<double> values;         // of the parts
  std::optional<tmeter::Metric> capacity;
  double sum = 0, limit = 0;  // limit 0: no capacity

  bool is_above() const { return limit > 0 && sum > limit; }
};

/// One for each plugin whose parts have values.
std::vector<Stack> stacks_of(const tmeter::Report& report);

/// "██▓▓▓▓▓▓▓▓┃▓▓▓▓": `width` columns are the larger of sum and capacity. Every part has a column,
/// as far as there are any; "·" is free, "┃" the capacity that is exceeded.
std::string drawn(const Stack& stack, size_t width);

/// "memory: 142.96 GiB of 74.51 GiB"
std::string heading_of(const Stack& stack);
/// "█ weights 14.96 GiB (10 %)" for each part; then the free or the missing amount.
std::vector<std::string> legend_of(const Stack& stack);

}  // namespace reports
