// The energy model: the cost of one operator on one hardware profile. Formulas only, no host; used
// by plugin.cpp and tests/unit/energy.
//
//   compute  [J] = macs * energy.mac(class, dtype) + ops * energy.op(class, dtype)
//   memory   [J] = (bytes read + bytes written) * energy.dram
//   time     [s] = max((macs / peak.mac + ops / peak.op) / efficiency(class), bytes / peak.dram)
//   static   [J] = power.static * time
//   energy       = compute + memory + static
//
// `ops` are the arithmetic operations other than MACs. Dynamic energy per operation and byte plus
// constant power over time is the model of Choi et al., "A Roofline Model of Energy", IPDPS 2013,
// doi:10.1109/IPDPS.2013.77, and of Antepara et al., SC '25, doi:10.1145/3712285.3759815, eq. 1;
// time is the roofline (plugins/common/machine). Keys: docs/hardware-profiles.md.
#pragma once
#include <optional>

#include "plugins/common/machine/profile.hpp"

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace energy {

using machine::Work;

/// Joules of arithmetic. `mac` and `op` may be empty if the operator has none of that kind;
/// otherwise the answer is empty.
inline std::optional<double> compute_energy(const Work& work, std::optional<double> mac,
                                            std::optional<double> op) {
  if ((work.macs > 0 && !mac) || (work.ops > 0 && !op)) return std::nullopt;
  return work.macs * mac.value_or(0) + work.ops * op.value_or(0);
}

/// Joules of data movement; `per_byte` in J/B.
inline double memory_energy(const Work& work, double per_byte) { return work.bytes * per_byte; }

/// Joules drawn during the operator's time, independent of its work; `power` in W.
inline double static_energy(double seconds, double power) { return seconds * power; }

}  // namespace energy
#pragma GCC visibility pop
