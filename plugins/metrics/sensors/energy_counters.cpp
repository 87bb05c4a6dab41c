#include "energy_counters.hpp"

#include "perf_energy.hpp"
#include "powercap.hpp"

namespace sensors {

EnergyCounters processor_counters(const Places& places) {
  auto found = powercap_counters(places.root);
  if (!found.counters.empty()) return found;
  auto by_perf = perf_counters(places.root, open_perf_event);
  for (auto& problem : by_perf.problems) found.problems.push_back(std::move(problem));
  found.counters = std::move(by_perf.counters);
  return found;
}

}  // namespace sensors
