// From a node of the graph to joules: reads what the other plugins counted, asks the profile for
// figures, applies model.hpp, and says once what had to be approximated or left out.
#pragma once
#include <set>
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
  Terms terms_of(const Work& work, const tmeter::Call& call);

 private:
  std::optional<double> figure(const Lookup& lookup, Family family, const Work& work,
                               const tmeter::Call& call);
  std::optional<double> time_of(const Lookup& lookup, const Work& work, const tmeter::Call& call);
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
