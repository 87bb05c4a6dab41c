// From a node of the graph to joules: reads what the other plugins counted, asks the profile for
// figures, applies model.hpp, and says once what had to be approximated or left out.
#pragma once
#include <array>
#include <set>
#include <span>
#include <tmeter/cpp/plugin.hpp>

#include "model.hpp"

namespace energy {

/// The three terms of one operator. Empty: this profile has no figure for this operator.
struct Terms {
  std::optional<double> compute, memory, standing;
};

/// Which terms a profile can give at all, and what to say about it.
struct Scope {
  bool compute = false, memory = false, standing = false;
  std::string missing_compute, missing_memory, missing_standing;  // sentences; empty when present
};

class Estimator {
 public:
  /// Looks at the profile of this run; forgets what was learned about another.
  void start(const tmeter::Call& call);
  const Scope& scope() const { return scope_; }

  /// Empty when the operator's MACs, operations or bytes are unknown.
  std::optional<Work> work_of(const tmeter::Node& node, const tmeter::Call& call);
  /// Of a module call of which a module handler gives MACs, operations or bytes as a whole: what is
  /// still counted operator by operator, and one part for what is not. Empty when some of it is
  /// unknown. `partial`: it leaves something out.
  std::optional<std::vector<Work>> work_of(const tmeter::ModuleCall& m, const tmeter::Call& call,
                                           bool& partial);
  /// Of all parts together, which run as one: their arithmetic one after the other, their traffic
  /// meanwhile.
  Terms terms_of(std::span<const Work> parts, const tmeter::Call& call);

 private:
  using Amounts = std::array<double, 3>;  // MACs, other operations, bytes
  std::optional<Amounts> amounts_inside(const tmeter::Node& node, const tmeter::Call& call) const;
  std::optional<double> figure(const Lookup& lookup, Family family, const Work& work,
                               const tmeter::Call& call);
  std::optional<double> time_of(const Lookup& lookup, const Work& work, const tmeter::Call& call);
  std::optional<double> compute_of(const Lookup& lookup, const Work& work,
                                   const tmeter::Call& call);
  void warn_once(const tmeter::Call& call, const std::string& message);

  Scope scope_;
  Profile profile_;
  std::string profile_name_;
  double per_byte_ = 0, power_ = 0;
  std::optional<double> bandwidth_;
  bool has_peak_mac_ = false, has_peak_op_ = false;
  std::set<std::string> warned_;
};

}  // namespace energy
