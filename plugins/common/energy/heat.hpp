// The effects of heat on a machine by its hardware profile: leakage, and the clock above the
// throttle point. Formulas only, no host.
//
//   power [W] = power.static + thermal.leakage · (T − thermal.reference)
//   clock     = 1 up to thermal.throttle, then 1 − thermal.slowdown · (T − thermal.throttle)
//
// Power grows exponentially between 20 and 85 °C, and a line fits between 20 and 50 °C: De Vogeleer
// et al., Modeling the Temperature Bias of Power Consumption for Nanometer-Scale CPUs in
// Application Processors, 2014, arXiv:1404.3381. Keys: docs/hardware-profiles.md.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <tmeter/cpp/units.hpp>

#include "plugins/common/machine/profile.hpp"

#pragma GCC visibility push(hidden)
namespace energy {

/// The temperature of the run in °C, or the reason why it is missing.
struct Temperature {
  std::optional<double> celsius;
  std::string missing = "no temperature is given";
};

struct ThermalEffects {
  double leakage = 0;        // W, on top of power.static
  double clock = 1;          // share of the peak rates of arithmetic
  bool lower_bound = false;  // the clock falls by an unknown amount
  /// "at 65 °C: 4 W of leakage, clock 100 %"; else "without thermal effects: …"
  std::string words;
};

/// `name`: of the profile, for messages. A clock of 0: the machine does not run at this
/// temperature.
inline ThermalEffects thermal_effects(const machine::Lookup& lookup, const Temperature& temperature,
                                      const std::string& name) {
  ThermalEffects heat;
  heat.words = "without thermal effects: ";
  if (!temperature.celsius) return heat.words += temperature.missing, heat;
  const double t = *temperature.celsius;
  const auto leakage = lookup("thermal.leakage"), reference = lookup("thermal.reference");
  const auto throttle = lookup("thermal.throttle"), slowdown = lookup("thermal.slowdown");
  const bool leaks = leakage && reference && lookup("power.static");
  if (!leaks && !throttle)
    return heat.words += name +
                         " has neither thermal.leakage with thermal.reference nor "
                         "thermal.throttle",
           heat;
  heat.words = "at " + tmeter::general(t) + " °C: ";
  if (leaks) {
    heat.leakage = std::max(*leakage * (t - *reference), -*lookup("power.static"));
    heat.words += tmeter::general(heat.leakage, 3) + " W of leakage more than at " +
                  tmeter::general(*reference) + " °C, ";
  } else {
    heat.words += "no thermal.leakage in " + name + ", ";
  }
  if (!throttle) return heat.words += "no thermal.throttle", heat;
  const double above = std::max(t - *throttle, 0.0);
  heat.lower_bound = above > 0 && !slowdown;
  heat.clock = std::max(1 - slowdown.value_or(0) * above, 0.0);
  heat.words += above == 0         ? "below the throttle point of "
                : heat.lower_bound ? "clock unknown above the throttle point of "
                                   : "clock " + tmeter::general(100 * heat.clock, 3) +
                                         " % above the throttle point of ";
  heat.words += tmeter::general(*throttle) + " °C";
  return heat;
}

}  // namespace energy
#pragma GCC visibility pop
