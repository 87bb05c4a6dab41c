// From a node of the graph to seconds on a machine: reads the counts of other plugins, looks up the
// hardware profile of the run, and reports approximations and omissions once.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "plugins/common/machine/profile.hpp"

namespace machine {

/// Seconds of one operator's arithmetic and of its traffic, which happens meanwhile.
struct Times {
  double arithmetic = 0, memory = 0;
  double longer() const { return std::max(arithmetic, memory); }
};

class Machine {
 public:
  /// `what`: the estimate's name in messages, "energy". `warns`: false for hypothetical work, as in
  /// advice.
  explicit Machine(std::string what, bool warns = true) : what_(std::move(what)), warns_(warns) {}

  /// Reads the profile of this run; discards cached values of the previous one.
  void start(const tmeter::Call& call);
  /// "hardware profile 'nvidia-a100'"
  std::string quoted_name() const;
  bool has_peak_mac() const { return has_peak_mac_; }
  /// The bandwidth of memory, in B/s.
  std::optional<double> bandwidth() const { return bandwidth_; }
  /// Whether the profile has a value of the family, for any class or type.
  static bool has(const tmeter::Call& call, Family family);
  static std::optional<double> number(const tmeter::Call& call, const std::string& key);

  /// Empty when the operator's MACs, operations or bytes are unknown.
  std::optional<Work> work_of(const tmeter::Node& node, const tmeter::Call& call);
  /// Work of a module call whose MACs, operations or bytes a module handler gives as a whole: the
  /// operators that are still counted singly, and one part for the rest. Empty if some of it is
  /// unknown. `partial`: something is left out.
  std::optional<std::vector<Work>> work_of(const tmeter::ModuleCall& m, const tmeter::Call& call,
                                           bool& partial);

  /// The rate for the work's class and element type, or a replacement. Empty: the profile has none.
  std::optional<double> value_for(Family family, const Work& work, const tmeter::Call& call);
  /// The bandwidth of the operator's class if the profile has it (with caches), else of memory.
  std::optional<double> bandwidth_of(OpClass kind, const tmeter::Call& call);
  /// Times of all parts as one operator: arithmetic is summed, and traffic overlaps it. Work
  /// without a rate takes no time. Empty if the profile has rates, but none for this element type.
  std::optional<Times> times_of(std::span<const Work> parts, const tmeter::Call& call);

 private:
  using Amounts = std::array<double, 3>;  // MACs, other operations, bytes
  std::optional<Amounts> amounts_inside(const tmeter::Node& node, const tmeter::Call& call) const;
  std::optional<double> arithmetic_of(const Work& work, const tmeter::Call& call);
  void warn_once(const tmeter::Call& call, const std::string& message);

  std::string what_;
  bool warns_;
  Profile profile_;
  std::string name_;
  std::optional<double> bandwidth_;
  std::map<OpClass, std::optional<double>> bandwidths_;
  bool has_peak_mac_ = false, has_peak_op_ = false;
  std::set<std::string> warned_;
};

}  // namespace machine
