// Savings from a change to some operators: memory traffic, and time by the roofline on the
// hardware profile of the run (plugins/metrics/roofline).
//
//   SavingsEstimator estimator(graph, call);
//   auto saving = estimator.merged({conv, relu}, {.read = bytes, .written = bytes},
//                                  OpClass::kConvolution);
//   …
//   estimator.report(finding, savings);  // "…: 21.0 % less memory traffic, 9.0 % less time on …"
#pragma once
#include <optional>
#include <span>
#include <string>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#include "plugins/common/machine/machine.hpp"
#include "plugins/common/uses.hpp"
#include "plugins/common/wording.hpp"

#pragma GCC visibility push(hidden)
namespace advice {

/// Bytes that operators move, or that a change saves.
struct Traffic {
  double read = 0, written = 0;
  double all() const { return read + written; }
  Traffic& operator+=(const Traffic& o) { return read += o.read, written += o.written, *this; }
};

/// The savings from a change at one place in the model.
struct Saving {
  std::vector<tmeter::Node> nodes;  // the operators concerned, in order
  Traffic saved;
  std::optional<double> seconds;  // saved; empty if the profile lacks the rates
  std::string kind;               // "conv2d → batch_norm in Bottleneck"
  /// The operators that the change removes. If empty, these are the operators without MACs; if none
  /// has MACs, all except the slowest.
  std::vector<tmeter::Node> removed{};
};

/// The metrics that an analysis with a SavingsEstimator must require.
inline constexpr const char* kSavingsMetrics =
    "macs other_flops read_bytes written_bytes predicted_time";

class SavingsEstimator {
 public:
  SavingsEstimator(const tmeter::Graph& graph, const tmeter::Call& call);

  /// Totals of the whole model, without operators of unknown traffic.
  const Traffic& traffic() const { return traffic_; }
  std::optional<double> seconds() const { return seconds_; }
  std::optional<Traffic> traffic_of(const tmeter::Node& node) const;
  /// Time of one operator without the overhead of its call; empty: unknown.
  std::optional<machine::Times> times_of(const tmeter::Node& node);
  /// Seconds that each operator call takes in addition to its work; 0 if the profile has no value.
  double overhead() const { return overhead_; }

  /// `nodes` become one operator of class `kind`. It moves `saved` bytes less than they do and does
  /// the arithmetic of all but the last `removed` of them. Empty if their work is unknown.
  std::optional<Saving> merged(std::vector<tmeter::Node> nodes, const Traffic& saved,
                               tmeter::OpClass kind, size_t removed = 0);
  /// `nodes` are removed. Empty if their work is unknown.
  std::optional<Saving> removed(std::vector<tmeter::Node> nodes);

  /// Tensors of type `from` become tensors of type `to`. This saves the shares `less` of the bytes
  /// read and written. Arithmetic of type `from` runs at the rate of `to`.
  std::optional<Saving> converted(const tmeter::Node& node, tmeter::DType from, tmeter::DType to,
                                  const Traffic& less);
  /// MACs of type `type` run `factor` times faster. Empty if the node has no MACs, or the profile
  /// has no rates.
  std::optional<Saving> faster_by(const tmeter::Node& node, tmeter::DType type, double factor);

  /// Completes a finding: appends the total saving to `text` and the largest kinds to the evidence,
  /// adds the nodes as targets, and the changes of read_bytes, written_bytes and predicted_time.
  void report(tmeter::Finding& finding, std::span<const Saving> savings) const;
  /// Like `report`, without the evidence.
  void report_totals(tmeter::Finding& finding, std::span<const Saving> savings) const;
  /// The measured time of the operators that would be removed: "; the operators removed took 312 us
  /// (13.1 %) when measured here". Empty if the model was not run.
  std::string measured_text(std::span<const Saving> savings) const;
  /// Adds targets and changes only.
  void complete(tmeter::Finding& finding, std::span<const Saving> savings) const;
  /// Whether the savings reach this share of the model's time, or of its traffic if the profile
  /// lacks the rates.
  bool are_worthwhile(std::span<const Saving> savings, double share) const;

 private:
  double measured_seconds_removed(const Saving& saving) const;
  std::optional<machine::Work> work_of(const tmeter::Node& node);
  Saving changed(const tmeter::Node& node, const machine::Work& now, const machine::Work& then,
                 const Traffic& saved);
  /// Time of one operator call that does all of these parts.
  std::optional<double> seconds_of(std::span<const machine::Work> parts);

  const tmeter::Call& call_;
  machine::Machine machine_{"predicted time"};
  Traffic traffic_;
  std::optional<double> seconds_;
  double overhead_ = 0;
  bool has_rates_ = false;
};

/// "conv2d → batch_norm in Bottleneck": the operators and the type of the innermost module around
/// all of them.
std::string kind_of(std::span<const tmeter::Node> nodes);

/// " in Bottleneck". A container that is never called has no type; its parent is named instead.
std::string in_module(tmeter::Module module);

/// "12 × conv2d → relu in Bottleneck 3.06 MiB, …": the kinds with the largest savings.
std::string kinds_text(std::span<const Saving> savings);

/// "12 × relu in Bottleneck, …": the most frequent kinds.
std::string counts_text(std::span<const Saving> savings);

/// A count; unknown if it exceeds 63 bits.
tmeter::Cell count_cell(double number);

using plugins::bytes_text;
std::string seconds_text(double seconds);

/// Bytes read of tensors that depend on no input: weights, and values computed from them. Look-ups
/// count 0, because the number of rows they read depends on the batch.
double fixed_bytes(const tmeter::Node& node, const plugins::DependsOnInputs& depends_on_inputs);

}  // namespace advice
#pragma GCC visibility pop
