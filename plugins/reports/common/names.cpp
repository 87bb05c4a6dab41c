#include "names.hpp"

#include <array>
#include <cstddef>

namespace reports {
namespace {

using Names = std::array<std::string_view, 8>;

// By the numbers in abi/metric.h, abi/base.h, abi/finding.h and abi/graph.h.
constexpr Names kUnitKinds{"count", "byte", "op", "joule", "second", "ratio", "watt", "other"};
constexpr Names kAxes{"node", "module_call", "module", "tensor", "model"};
constexpr Names kAggregations{"sum", "max", "last", "weighted_mean", "none"};
constexpr Names kBetter{"lower", "higher", "neither"};
constexpr Names kSeverities{"info", "advice", "warning", "error"};
constexpr Names kProvenance{"computed", "measured", "estimated", "unavailable"};
constexpr Names kTensorKinds{"parameter", "buffer", "constant"};

std::string_view name_of(const Names& names, int32_t id) {
  const auto i = static_cast<size_t>(id);
  return id >= 0 && i < names.size() && !names[i].empty() ? names[i] : "other";
}

}  // namespace

std::string_view unit_kind_name(int32_t kind) { return name_of(kUnitKinds, kind); }
std::string_view axis_name(int32_t axis) { return name_of(kAxes, axis); }
std::string_view aggregation_name(int32_t a) { return name_of(kAggregations, a); }
std::string_view better_name(int32_t better) { return name_of(kBetter, better); }
std::string_view severity_name(int32_t s) { return name_of(kSeverities, s); }
std::string_view provenance_name(int32_t p) { return name_of(kProvenance, p); }
std::string_view tensor_kind_name(int32_t kind) { return name_of(kTensorKinds, kind); }

}  // namespace reports
