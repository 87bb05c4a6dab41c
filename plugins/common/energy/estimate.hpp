// From the work of an operator to joules: looks up the hardware profile and applies model.hpp.
#pragma once
#include <span>
#include <tmeter/cpp/plugin.hpp>

#include "plugins/common/energy/heat.hpp"
#include "plugins/common/energy/model.hpp"
#include "plugins/common/energy/tables.hpp"
#include "plugins/common/machine/machine.hpp"
#include "plugins/common/machine/per_node.hpp"

namespace energy {

/// The three terms of one operator, in joules, and the time of the last one. Empty: the profile
/// has no value for this operator.
struct Terms {
  std::optional<double> compute, memory, standing, seconds;
};

/// The energy of one operator, or the reason for its absence: the operator does nothing, or its
/// work is unknown.
struct Estimate {
  enum class Kind : uint8_t { kUnknown, kNothing, kTerms };
  Kind kind = Kind::kUnknown;
  Terms terms;
  std::optional<double> total;  // J; empty when a term that the profile has is missing here
  std::optional<Band> band;
  double flops = 0;
};

/// The terms that a profile supports, and messages about the missing ones.
struct Scope {
  bool compute = false, memory = false, standing = false;
  std::string missing_compute, missing_memory, missing_standing;  // sentences; empty when present
  /// The sum of the terms; empty if one of them is missing for this operator.
  std::optional<double> total(const Terms& terms) const;
};

class Estimator {
 public:
  explicit Estimator(bool warns = true) : machine_("energy", warns) {}
  /// Reads the profile of this run and discards that of the previous run.
  void start(const tmeter::Call& call, const Temperature& temperature = {});
  const Scope& scope() const { return scope_; }
  const ThermalEffects& heat() const { return heat_; }
  machine::Machine& machine() { return machine_; }

  Estimate of(const tmeter::Node& node, const tmeter::Call& call);
  /// The energy of all parts as one operator.
  Estimate of(std::span<const Work> parts, const tmeter::Call& call);

 private:
  Terms terms_of(std::span<const Work> parts, const tmeter::Call& call);
  std::optional<double> compute_of(const Work& work, const tmeter::Call& call);

  machine::Machine machine_;
  Scope scope_;
  ThermalEffects heat_;
  PublishedTables tables_;
  double per_byte_ = 0, power_ = 0;
  machine::PerNode<Work, Estimate> nodes_;
};

}  // namespace energy
