// RAPL by perf events of the PMU "power": used if powercap is missing or forbidden. Needs
// CAP_PERFMON, or /proc/sys/kernel/perf_event_paranoid of 0 and less, as it counts the whole
// machine.
#pragma once
#include <cstdint>

#include "energy_counters.hpp"

#pragma GCC visibility push(hidden)
namespace sensors {

/// Opens an event of PMU `type` on processor `cpu`; a descriptor, or -errno.
using OpenPerfEvent = std::function<int(uint32_t type, uint64_t config, int cpu)>;

int open_perf_event(uint32_t type, uint64_t config, int cpu);

EnergyCounters perf_counters(const std::string& root, const OpenPerfEvent& open);

}  // namespace sensors
#pragma GCC visibility pop
