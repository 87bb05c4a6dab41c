#include "plugins/common/energy/estimate.hpp"

namespace energy {

using machine::Family;
using machine::Machine;
using tmeter::Call;

std::optional<double> Scope::total(const Terms& terms) const {
  const auto lacks = [](bool needed, const auto& term) { return needed && !term; };
  if (!compute || lacks(compute, terms.compute) || lacks(memory, terms.memory) ||
      lacks(standing, terms.standing)) {
    return std::nullopt;
  }
  return *terms.compute + terms.memory.value_or(0) + terms.standing.value_or(0);
}

void Estimator::start(const Call& call, const Temperature& temperature) {
  machine_.start(call);
  scope_ = {};
  nodes_.forget();
  const auto no = [this](std::string_view what) {
    return machine_.quoted_name() + " has no " + std::string(what);
  };
  scope_.compute = Machine::has(call, Family::kEnergyMac);
  if (!scope_.compute) scope_.missing_compute = no("energy per MAC (energy.mac.*)");

  const auto per_byte = Machine::number(call, "energy.dram");
  scope_.memory = per_byte.has_value();
  per_byte_ = per_byte.value_or(0);
  if (!per_byte) scope_.missing_memory = no("energy per byte (energy.dram)");

  const auto power = Machine::number(call, "power.static");
  heat_ = thermal_effects([&call](const std::string& key) { return Machine::number(call, key); },
                          temperature, machine_.quoted_name());
  power_ = power.value_or(0) + heat_.leakage;
  scope_.standing = power && (machine_.has_peak_mac() || machine_.bandwidth());
  if (!power) {
    scope_.missing_standing = no("static power (power.static)");
  } else if (!scope_.standing) {
    scope_.missing_standing = no("peak rates (peak.*), so there is no time for static power");
  }
}

std::optional<double> Estimator::compute_of(const Work& work, const Call& call) {
  std::optional<double> mac, op;
  if (work.macs > 0) mac = machine_.value_for(Family::kEnergyMac, work, call);
  if (work.ops > 0) op = machine_.value_for(Family::kEnergyOp, work, call);
  return compute_energy(work, mac, op);
}

Terms Estimator::terms_of(std::span<const Work> parts, const Call& call) {
  Terms terms;
  Work traffic;
  if (scope_.compute) terms.compute = 0;
  for (const auto& work : parts) {
    traffic.bytes += work.bytes;
    if (!terms.compute) continue;
    const auto part = compute_of(work, call);
    terms.compute = part ? std::optional(*terms.compute + *part) : std::nullopt;
  }
  if (scope_.memory) terms.memory = memory_energy(traffic, per_byte_);
  if (!scope_.standing) return terms;
  const auto times = machine_.times_of(parts, call);
  if (!times || heat_.clock <= 0) return terms;
  terms.seconds = std::max(times->arithmetic / heat_.clock, times->memory);
  terms.standing = static_energy(*terms.seconds, power_);
  return terms;
}

Estimate Estimator::of(std::span<const Work> parts, const Call& call) {
  Estimate estimate{Estimate::Kind::kNothing, {}, {}, {}, 0};
  for (const auto& w : parts) {
    if (w.macs != 0 || w.ops != 0 || w.bytes != 0) estimate.kind = Estimate::Kind::kTerms;
    estimate.flops += 2 * w.macs + w.ops;
  }
  if (estimate.kind == Estimate::Kind::kNothing) return estimate;
  estimate.terms = terms_of(parts, call);
  estimate.total = scope_.total(estimate.terms);
  estimate.band = tables_.band(parts);
  return estimate;
}

Estimate Estimator::of(const tmeter::Node& node, const Call& call) {
  const auto work = machine_.work_of(node, call);
  if (!work) return {};
  return nodes_.of(node, *work, [&] { return of({&*work, 1}, call); });
}

}  // namespace energy
