// The rules. docs/conventions.md, "Energy", lists them.
#pragma once
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "plugins/common/energy/estimate.hpp"

#pragma GCC visibility push(hidden)
namespace energy_advice {

/// An operator whose energy is known.
struct Operator {
  tmeter::Node node;
  energy::Work work;
  double joules = 0;
};

/// Smallest share of the energy that is reported. Our choice.
inline constexpr double kMinShare = 0.05;
inline constexpr const char* kHeadroom = "energy_headroom";

class Model {
 public:
  Model(const tmeter::Graph& graph, tmeter::Call& call);

  const tmeter::Graph& graph;
  tmeter::Call& call;
  const std::vector<Operator>& operators() const { return operators_; }
  /// J of a run, by the plugin energy; 0 if the profile has none.
  double joules() const { return joules_; }
  /// J of this work; empty if the profile lacks a value.
  std::optional<double> of(const energy::Work& work);
  /// J of `bytes` moved.
  double moving(double bytes) const { return bytes * per_byte_; }
  /// Whether the profile has a value of exactly this type for the class.
  bool has(tmeter::OpClass kind, tmeter::DType type) const;

  /// "44.9 mJ of 88.1 mJ (51.0 %)"
  std::string share_text(double saved) const;
  /// "linear energy model on hardware profile nvidia-a100"
  std::string by() const;
  /// Adds the finding, with the change of the energy.
  void report(tmeter::Finding& finding, double saved);
  /// The largest saving reported, as a share of the energy.
  double headroom() const { return joules_ > 0 ? most_saved_ / joules_ : 0; }

 private:
  energy::Estimator estimator_{false};  // no warnings: the plugin energy gives them
  double joules_ = 0, per_byte_ = 0, most_saved_ = 0;
  std::vector<Operator> operators_;
};

std::string joules_text(double joules);

/// The distribution of the energy: arithmetic, traffic, static power; kinds of operators.
void report_shares(Model& model);
/// Savings by a smaller element type.
void report_precision(Model& model);
/// Savings by a larger batch, for which weights are read once.
void report_batch(Model& model);
/// Savings by fusion, which writes no intermediate tensors.
void report_fusion(Model& model);
/// The same run by the published tables of real machines.
void report_devices(Model& model);

}  // namespace energy_advice
#pragma GCC visibility pop
