// RAPL by /sys/class/powercap: packages, and the memory that belongs to them.
// Cores and graphics are part of their package, and psys has packages inside: neither is added.
#pragma once
#include "energy_counters.hpp"

#pragma GCC visibility push(hidden)
namespace sensors {

EnergyCounters powercap_counters(const std::string& root);

}  // namespace sensors
#pragma GCC visibility pop
