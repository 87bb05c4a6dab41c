// Data for charts: families of curves, and parts of a sum.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <tmeter/cpp/report.hpp>
#include <vector>

namespace reports {

// Curves of the whole model that differ in one number, "fit-memory-1" and "fit-memory-8": one chart
// or one table.

struct CurveFamily {
  std::string title;  // "memory for … sequences"
  std::string x_title;
  std::vector<std::string> members;  // "1", "8": a column each
  int32_t y_kind;                    // TMETER_UNIT_…
  std::string y_unit;
  double limit = 0;  // of y: the metric with TMETER_METRIC_CAPACITY of the same title; 0: none
  std::map<double, std::vector<std::optional<double>>> rows;  // by x
};

/// Families of 2 to 24 curves over at most 64 values of x, whose ids end with "-" and a number, and
/// whose axes are the same.
std::vector<CurveFamily> curve_families(const tmeter::Report& report);

/// "memory for … sequences; ✕: more than available"
std::string heading_of(const CurveFamily& family);

/// "1,024"
std::string shown_number(double value);
/// "142.96 GiB ✕"; a number without a unit is in the unit of `heading_of`.
std::string shown_y(double value, const CurveFamily& family);

/// Appended to a value above the limit.
inline constexpr std::string_view kAboveLimit = "✕";

// Parts of a sum, drawn as one bar: metrics with TMETER_METRIC_PART of one plugin, against its
// metric with TMETER_METRIC_CAPACITY.

struct Stack {
  std::vector<tmeter::Metric> parts;  // with a value above 0, in the order of the report
  std::vector<double> values;         // sum of the parts
  std::optional<tmeter::Metric> capacity;
  double sum = 0, limit = 0;  // limit 0: no capacity

  bool is_above() const { return limit > 0 && sum > limit; }
};

/// One bar for each plugin with values of parts.
std::vector<Stack> stacks_of(const tmeter::Report& report);

/// "██▓▓▓▓▓▓▓▓┃▓▓▓▓": `width` columns are the larger of sum and capacity. Every part has a column,
/// if there are any; "·" is free, "┃" the capacity that is exceeded.
std::string drawn(const Stack& stack, size_t width);

/// "memory: 142.96 GiB of 74.51 GiB"
std::string heading_of(const Stack& stack);
/// "█ weights 14.96 GiB (10 %)" for each part; then the free or the missing amount.
std::vector<std::string> legend_of(const Stack& stack);

}  // namespace reports
