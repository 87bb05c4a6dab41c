// Curves of the whole model that differ in one number, "fit-memory-1" and "fit-memory-8": one chart
// or one table.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <tmeter/cpp/report.hpp>
#include <vector>

namespace reports {

struct CurveFamily {
  std::string title;  // "memory for … sequences"
  std::string x_title;
  std::vector<std::string> members;  // "1", "8": a column each
  int32_t y_kind;                    // TMETER_UNIT_…
  std::string y_unit;
  double limit = 0;  // of y: the metric with TMETER_METRIC_CAPACITY that has its title; 0: none
  std::map<double, std::vector<std::optional<double>>> rows;  // by x
};

/// Families of 2 to 24 curves over at most 64 values of x, whose ids end with "-" and a number, and
/// whose axes are the same.
std::vector<CurveFamily> curve_families(const tmeter::Report& report);

/// "memory for … sequences; ✕: more than there is"
std::string heading_of(const CurveFamily& family);

/// "1,024"
std::string shown_number(double value);
/// "142.96 GiB ✕"; a number without a unit stands under the unit of `heading_of`.
std::string shown_y(double value, const CurveFamily& family);

/// Behind a value above the limit.
inline constexpr std::string_view kAboveLimit = "✕";

}  // namespace reports
