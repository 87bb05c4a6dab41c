// energy: an estimate of the joules one inference takes, per operator, on a hardware profile, and
// of the grams of CO2e of this electricity.
//
// Marked as an estimate: provenance names model and profile, and the terms that the profile lacks.
// Measurements of runs have separate metrics (measured.cpp).
// The formulas are in plugins/common/energy, the profiles in hardware/, both are described in
// docs/hardware-profiles.md.
#include <algorithm>
#include <charconv>
#include <memory>
#include <tmeter/cpp/units.hpp>

#include "columns.hpp"
#include "grid.hpp"
#include "measured.hpp"
#include "plugins/common/energy/estimate.hpp"
#include "plugins/common/options.hpp"
#include "readings.hpp"

namespace {

using energy::Column;
using energy::Grid;
using tmeter::Call;
using tmeter::Cell;

/// The data of one run.
class Energy {
 public:
  void start(Call& call);
  Cell at(const Column& column, const tmeter::Node& node, Call& call);
  Cell at(const Column& column, const tmeter::ModuleCall& m, Call& call);
  void report_carbon(const Call& call) const;

 private:
  Cell value(const Column& column, const energy::Estimate& estimate) const;
  bool in_scope(const Column& column) const {
    return column.missing(estimator_.scope(), grid_).empty();
  }
  void describe_provenance(const Column& column, const std::string& profile,
                           const Call& call) const;

  energy::Estimator estimator_;
  Grid grid_;
};

constexpr std::string_view kSensor = "sensor";
constexpr double kMinTemperature = -55,
                 kMaxTemperature = 150;  // °C: the specified range of silicon, and some more

std::optional<double> hottest_probe(const Call& call) {
  std::optional<double> hottest;
  for (const auto& probe :
       sensors::temperature_probes(std::string(call.option_text("sensors-root"))))
    if (const auto t = sensors::read_probe(probe)) hottest = std::max(hottest.value_or(*t), *t);
  return hottest;
}

energy::Temperature temperature_of(const Call& call) {
  const auto text = call.option_text("temperature");
  if (text.empty()) return {{}, "no temperature is given (--set energy.temperature=65)"};
  if (text == kSensor) {
    if (const auto read = hottest_probe(call)) return {*read, {}};
    return {{}, "no sensor of temperature can be read (/sys/class/hwmon; it takes --inference)"};
  }
  double celsius = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, celsius);
  if (parsed.ec == std::errc() && parsed.ptr == end && celsius >= kMinTemperature &&
      celsius <= kMaxTemperature)
    return {celsius, {}};
  throw tmeter::Error(TMETER_BAD_USAGE, "energy.temperature=" + std::string(text) +
                                            ": °C from -55 to 150, or sensor, are expected");
}

std::string left_out(const energy::Scope& scope) {
  std::string text;
  if (!scope.memory) text += "; without energy_memory: " + scope.missing_memory;
  if (!scope.standing) text += "; without energy_static: " + scope.missing_standing;
  return text;
}

/// The suffix of the model's and the profile's name.
std::string provenance_suffix(const Column& column, const energy::Scope& scope,
                              const energy::ThermalEffects& heat, const Grid& grid) {
  if (column.spec.id == "energy") return left_out(scope) + "; " + heat.words;
  if (column.spec.id == "energy_static" || column.spec.id == "energy_time")
    return "; " + heat.words;
  if (column.spec.id == "co2") return "; " + grid.text;
  return {};
}

void Energy::describe_provenance(const Column& column, const std::string& profile,
                                 const Call& call) const {
  const auto missing = column.missing(estimator_.scope(), grid_);
  if (!missing.empty()) {
    call.set_provenance(column.spec.id, TMETER_PROVENANCE_UNAVAILABLE, missing);
  } else if (column.by_tables) {
    call.set_provenance(
        column.spec.id, TMETER_PROVENANCE_ESTIMATED,
        "linear energy model on the published tables " + energy::published_tables());
  } else {
    call.set_provenance(
        column.spec.id, TMETER_PROVENANCE_ESTIMATED,
        "linear energy model on hardware profile " + profile +
            provenance_suffix(column, estimator_.scope(), estimator_.heat(), grid_));
  }
}

void Energy::start(Call& call) {
  estimator_.start(call, temperature_of(call));
  const auto& heat = estimator_.heat();
  if (heat.clock <= 0)
    throw tmeter::Error(TMETER_BAD_USAGE,
                        "energy.temperature=" + std::string(call.option_text("temperature")) +
                            ": " + std::string(call.hardware_name()) +
                            " stands still there, by its thermal.slowdown");
  if (heat.lower_bound)
    call.warn("energy: the time and energy_static are lower bounds, because the clock of " +
              std::string(call.hardware_name()) + " falls above its throttle point");
  grid_ = energy::grid_of(call);
  const auto profile =
      std::string(call.hardware_name()) + ": " + std::string(call.hardware_title());
  for (const auto& column : energy::columns()) describe_provenance(column, profile, call);
}

Cell Energy::value(const Column& column, const energy::Estimate& estimate) const {
  using Kind = energy::Estimate::Kind;
  if (estimate.kind == Kind::kUnknown) return Cell::unsupported();
  if (estimate.kind == Kind::kNothing) return column.is_sum ? Cell::zero_by_rule() : Cell();
  const auto value = column.value(estimate, grid_);
  return value ? Cell(*value) : Cell::unavailable();
}

Cell Energy::at(const Column& column, const tmeter::Node& node, Call& call) {
  if (!in_scope(column)) return Cell::unavailable();
  return value(column, estimator_.of(node, call));
}

Cell Energy::at(const Column& column, const tmeter::ModuleCall& m, Call& call) {
  if (!in_scope(column)) return Cell::unavailable();
  bool partial = false;
  const auto parts = estimator_.machine().work_of(m, call, partial);
  if (!parts) return Cell::unsupported();
  const auto cell = value(column, estimator_.of(*parts, call));
  return partial && cell.known() ? cell.as_partial() : cell;
}

std::string mass(double grams) {
  constexpr std::array<std::pair<double, const char*>, 5> kUnits{
      {{1e3, "kg"}, {1, "g"}, {1e-3, "mg"}, {1e-6, "ug"}, {1e-9, "ng"}}};
  const auto at = std::find_if(kUnits.begin(), kUnits.end() - 1,
                               [grams](const auto& unit) { return grams >= unit.first; });
  return tmeter::general(grams / at->first, 3) + " " + at->second;
}

/// The metric is a detail; a finding shows it to users who chose a grid.
void Energy::report_carbon(const Call& call) const {
  if (!grid_.grams_per_kwh) return;
  const auto grams = call.read("co2", TMETER_AXIS_MODEL, 0);
  if (!grams.known()) return;
  tmeter::Finding finding;
  finding.rule = "co2";
  finding.text = std::string("one inference: ") + (grams.partial() ? "at least " : "") +
                 mass(grams.real()) + " CO2e by the estimated energy";
  finding.evidence = "electricity at " + grid_.text;
  call.add(finding);
}

void register_options(tmeter::Registrar& r) {
  static const auto kRegions = std::string(energy::kNoRegion) + " " + energy::region_codes();
  r.option(plugins::choice_option(
      "region", kRegions,
      "region of the electricity: a country, EU or WORLD, whose grams of CO2e per kWh co2 uses"));
  r.option(plugins::real_option(
      "co2", "-1", -1, 1e6,
      "grams of CO2e per kWh of your own electricity; overrides region (-1: none)"));
  r.option(plugins::text_option(
      "temperature",
      "temperature of the machine in °C, for leakage and clock, or sensor: the highest "
      "of this machine as the analysis starts, with --inference"));
}

void register_all(tmeter::Registrar& r) {
  const auto energy = std::make_shared<Energy>();
  register_options(r);
  r.configure([energy](Call& call) { energy->start(call); });
  r.handlers_by_signature();
  for (const auto& column : energy::columns()) {
    r.metric(column.spec);
    r.op("*").handle(column.spec.id, [energy, &column](const tmeter::Node& node, Call& call) {
      return energy->at(column, node, call);
    });
    const auto of_call = [energy, &column](const tmeter::Graph&, const tmeter::ModuleCall& m,
                                           Call& call) { return energy->at(column, m, call); };
    r.module_type("*", column.spec.id, of_call, 0, "macs other_flops read_bytes written_bytes");
  }
  r.analysis("co2", "co2", "",
             [energy](const tmeter::Graph&, Call& call) { energy->report_carbon(call); });
  energy::register_measured(r);
}

}  // namespace

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "org.tmeter.energy",
        .version = "1.2.0",
        .description =
            "Energy per inference: estimated on a hardware profile, measured in runs; and its CO2e",
        .needs = "params flops memory",
    }),
    [](tmeter::Registrar& r) { register_all(r); })
