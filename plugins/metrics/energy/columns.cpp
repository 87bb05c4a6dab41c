#include "columns.hpp"

#include <tmeter/cpp/units.hpp>

#include "grid.hpp"

namespace energy {
namespace {

constexpr std::string_view kTotal =
    "estimate: MACs × energy per MAC + other operations × energy per operation (by operator class "
    "and element type) + bytes read and written × energy per DRAM byte + static power × roofline "
    "time; every byte an operator touches is charged as DRAM traffic, operators run one at a time";
constexpr std::string_view kCompute =
    "estimate: MACs × energy.mac + other arithmetic operations × energy.op, values of the "
    "hardware profile by operator class and element type";
constexpr std::string_view kMemory =
    "estimate: (read_bytes + written_bytes) × energy.dram; no reuse of caches between operators";
constexpr std::string_view kStatic =
    "estimate: power.static × max((MACs / peak.mac + other operations / peak.op) / efficiency, "
    "bytes / peak.dram); the time is a lower bound without launch overheads";
constexpr std::string_view kTime =
    "roofline time during which static power is drawn: max((MACs / peak.mac + other operations / "
    "peak.op) / efficiency, bytes / peak.dram); a lower bound";
constexpr std::string_view kLow =
    "smallest estimate by the published tables, operator by operator, for any profile: the spread "
    "of the tables shows the uncertainty of an estimate";
constexpr std::string_view kHigh =
    "largest estimate by the published tables, operator by operator, for any profile";
constexpr std::string_view kPower =
    "energy / energy_time: an upper bound, because the time is a lower bound";
constexpr std::string_view kPerJoule =
    "(2 × MACs + other operations) / energy; of a module: all its operations over all its energy";
constexpr std::string_view kCarbon =
    "energy × carbon intensity of the grid (--set energy.region=DE or energy.co2=G_PER_KWH); "
    "electricity only, without manufacture, cooling and power supplies";

std::optional<double> quotient(std::optional<double> a, std::optional<double> b) {
  return a && b && *b > 0 ? std::optional(*a / *b) : std::nullopt;
}

using Value = std::optional<double>;
Value total(const Estimate& e, const Grid&) { return e.total; }
Value compute(const Estimate& e, const Grid&) { return e.terms.compute; }
Value memory(const Estimate& e, const Grid&) { return e.terms.memory; }
Value standing(const Estimate& e, const Grid&) { return e.terms.standing; }
Value seconds(const Estimate& e, const Grid&) { return e.terms.seconds; }
Value low(const Estimate& e, const Grid&) { return e.band ? Value(e.band->low) : Value(); }
Value high(const Estimate& e, const Grid&) { return e.band ? Value(e.band->high) : Value(); }
Value power(const Estimate& e, const Grid&) { return quotient(e.total, e.terms.seconds); }
Value per_joule(const Estimate& e, const Grid&) { return quotient(e.flops, e.total); }
Value carbon(const Estimate& e, const Grid& grid) {
  return e.total && grid.grams_per_kwh ? Value(grams_of(*e.total, *grid.grams_per_kwh)) : Value();
}

std::string no_compute(const Scope& s, const Grid&) { return s.missing_compute; }
std::string no_memory(const Scope& s, const Grid&) { return s.missing_memory; }
std::string no_standing(const Scope& s, const Grid&) { return s.missing_standing; }
std::string nothing_missing(const Scope&, const Grid&) { return {}; }
std::string no_power(const Scope& s, const Grid&) {
  return s.compute ? s.missing_standing : s.missing_compute;
}
std::string no_carbon(const Scope& s, const Grid& g) {
  return s.compute && !g.grams_per_kwh ? g.text : s.missing_compute;
}

tmeter::MetricSpec joules(std::string_view id, std::string_view title, std::string_view convention,
                          uint32_t flags = TMETER_METRIC_DETAIL) {
  return {.id = id,
          .title = title,
          .unit = "J",
          .unit_kind = TMETER_UNIT_JOULE,
          .flags = flags,
          .convention = convention};
}

}  // namespace

Grid grid_of(const Call& call) {
  const auto own = call.option_float("co2");
  if (own >= 0) return {own, tmeter::general(own) + " g/kWh (--set energy.co2)"};
  const auto* region = region_of(call.option_text("region"));
  if (!region)
    return {{}, "no grid is chosen: --set energy.region=DE, or energy.co2=GRAMS_PER_KWH"};
  return {region->grams, tmeter::general(region->grams) + " g/kWh (" + std::string(region->name) +
                             ", " + std::to_string(region->year) + ": " + std::string(kGridSource) +
                             ")"};
}

std::span<const Column> columns() {
  static const std::array<Column, 10> kColumns{{
      {joules("energy", "energy", kTotal, 0), total, no_compute, false, true},
      {joules("energy_compute", "E compute", kCompute), compute, no_compute, false, true},
      {joules("energy_memory", "E memory", kMemory), memory, no_memory, false, true},
      {joules("energy_static", "E static", kStatic), standing, no_standing, false, true},
      {joules("energy_low", "E least", kLow), low, nothing_missing, true, true},
      {joules("energy_high", "E most", kHigh), high, nothing_missing, true, true},
      {{.id = "energy_time",
        .title = "E time",
        .unit = "s",
        .unit_kind = TMETER_UNIT_SECOND,
        .flags = TMETER_METRIC_DETAIL,
        .convention = kTime},
       seconds,
       no_standing,
       false,
       true},
      {{.id = "power",
        .title = "power",
        .unit = "W",
        .unit_kind = TMETER_UNIT_WATT,
        .aggregation = TMETER_AGGREGATE_WEIGHTED_MEAN,
        .flags = TMETER_METRIC_DETAIL,
        .convention = kPower,
        .weight = "energy_time"},
       power,
       no_power,
       false,
       false},
      {{.id = "flops_per_joule",
        .title = "FLOPs/J",
        .unit = "FLOP/J",
        .unit_kind = TMETER_UNIT_OTHER,
        .aggregation = TMETER_AGGREGATE_WEIGHTED_MEAN,
        .better = TMETER_BETTER_HIGHER,
        .flags = TMETER_METRIC_DETAIL,
        .convention = kPerJoule,
        .weight = "energy"},
       per_joule,
       no_compute,
       false,
       false},
      {{.id = "co2",
        .title = "CO2e",
        .unit = "g",
        .unit_kind = TMETER_UNIT_OTHER,
        .flags = TMETER_METRIC_DETAIL,
        .convention = kCarbon},
       carbon,
       no_carbon,
       false,
       true},
  }};
  return kColumns;
}

}  // namespace energy
