// The words for the ABI's enums in reports, in both directions: TMETER_AGGREGATE_SUM
// is "sum". The schema of JSON reports (docs/schema) lists the same words. A word or number that is
// not listed is newer than this SDK: it becomes "other" and kOtherNumber.
//
//   tmeter::vocabulary::kAggregations.word(metric.aggregation())   // "sum"
//   tmeter::vocabulary::kAggregations.number("sum")                // TMETER_AGGREGATE_SUM
#pragma once
#include <array>
#include <string_view>

#include "base.hpp"

TMETER_SDK_BEGIN

namespace vocabulary {

inline constexpr int32_t kOtherNumber = -1;

/// The words of an enum whose values are 0, 1, 2, … in this order.
template <size_t N>
struct Words {
  std::array<std::string_view, N> words;

  constexpr std::string_view word(int32_t number) const {
    return number >= 0 && static_cast<size_t>(number) < N ? words[static_cast<size_t>(number)]
                                                          : "other";
  }
  constexpr int32_t number(std::string_view word) const {
    for (size_t i = 0; i < N; ++i)
      if (words[i] == word) return static_cast<int32_t>(i);
    return kOtherNumber;
  }
};

template <class... Texts>
constexpr Words<sizeof...(Texts)> in_order(Texts... words) {
  return {{std::string_view(words)...}};
}

/// TMETER_UNIT_…
inline constexpr auto kUnitKinds =
    in_order("count", "byte", "op", "joule", "second", "ratio", "watt", "other");
/// TMETER_AXIS_…
inline constexpr auto kAxes = in_order("node", "module_call", "module", "tensor", "model");
/// TMETER_AGGREGATE_…
inline constexpr auto kAggregations = in_order("sum", "max", "last", "weighted_mean", "none");
/// TMETER_BETTER_…
inline constexpr auto kBetter = in_order("lower", "higher", "neither");
/// TMETER_SEVERITY_…
inline constexpr auto kSeverities = in_order("info", "advice", "warning", "error");
/// TMETER_PROVENANCE_…
inline constexpr auto kProvenances = in_order("computed", "measured", "estimated", "unavailable");
/// TMETER_METADATA_…
inline constexpr auto kMetadataTypes = in_order("text", "int", "float", "bool");
/// TMETER_TENSOR_…
inline constexpr auto kTensorKinds = in_order("parameter", "buffer", "constant");

/// The status of a cell.
enum class CellStatus : int32_t {
  kZeroByRule,   // costs nothing under this metric
  kUnknown,      // no rule
  kUnavailable,  // not available from this file or on this machine
  kInModule,     // part of the value of an enclosing module call
  kNotFinite,
  kLowerBound,  // a sum or maximum without some of its parts
  kPartial,     // another roll-up without some of its parts
  kAssumed,     // rests on an assumption that a warning names
  kByModule     // given by a module handler; covers everything inside the module call
};
/// CellStatus
inline constexpr auto kCellStatuses =
    in_order("zero_by_rule", "unknown", "unavailable", "in_module", "not_finite", "lower_bound",
             "partial", "assumed", "by_module");

}  // namespace vocabulary

TMETER_SDK_END
