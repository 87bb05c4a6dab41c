#include "core/analysis/emission_rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.hpp"

namespace tmeter::core {
namespace {

[[noreturn]] void refuse(const Column& c, const std::string& why) {
  throw Error(ErrorKind::kPlugin, "metric '" + c.id + "' " + why);
}

bool is_counted(int32_t unit_kind) {
  constexpr std::array kCounted{TMETER_UNIT_COUNT, TMETER_UNIT_BYTE, TMETER_UNIT_OP};
  return std::find(kCounted.begin(), kCounted.end(), unit_kind) != kCounted.end();
}

}  // namespace

size_t axis_size(const Graph& graph, int32_t axis) {
  switch (axis) {
    case TMETER_AXIS_NODE:
      return graph.nodes().size();
    case TMETER_AXIS_MODULE_CALL:
      return graph.calls().size();
    case TMETER_AXIS_MODULE:
      return graph.modules().size();
    case TMETER_AXIS_TENSOR:
      return graph.tensors().size();
    case TMETER_AXIS_MODEL:
      return 1;
    default:
      return 0;
  }
}

void require_target(const Graph& graph, const tmeter_target& target, std::string_view what) {
  if (target.index < axis_size(graph, target.axis)) return;
  throw Error(ErrorKind::kPlugin, std::string(what) + " is about a row that does not exist");
}

void require_own(const Column& c, std::string_view plugin) {
  if (c.plugin != plugin) refuse(c, "belongs to plugin " + c.plugin);
}

void require_table(const Column& c, int32_t axis) {
  constexpr std::array kSums{TMETER_AXIS_MODULE_CALL, TMETER_AXIS_MODULE, TMETER_AXIS_MODEL};
  if (axis == c.axis) return;
  const bool is_sum = std::find(kSums.begin(), kSums.end(), axis) != kSums.end();
  if (is_sum && c.aggregation == TMETER_AGGREGATE_NONE) return;
  refuse(c, "was emitted for another table than it is declared for (axis " + std::to_string(axis) +
                " instead of " + std::to_string(c.axis) + ")");
}

void require_value(const Column& c, const tmeter_number& n) {
  if (n.kind == TMETER_NUMBER_IN_MODULE)
    refuse(c, "was given the status 'in a module', which is the host's to give");
  if (n.kind < TMETER_NUMBER_NONE || n.kind > TMETER_NUMBER_UNAVAILABLE)
    refuse(c, "was given a value of unknown kind " + std::to_string(n.kind));
  if (!is_number(n)) return;
  if (n.kind == TMETER_NUMBER_FLOAT && !std::isfinite(n.f))
    refuse(c, "was given " + std::string(std::isnan(n.f) ? "NaN" : "infinity"));
  if (real(n) < 0 && is_counted(c.unit_kind)) refuse(c, "is a count and was given a value below 0");
}

void require_provenance(const Column& c, int32_t provenance) {
  if (provenance < TMETER_PROVENANCE_COMPUTED || provenance > TMETER_PROVENANCE_UNAVAILABLE)
    refuse(c, "was given a provenance of unknown kind " + std::to_string(provenance));
}

}  // namespace tmeter::core
