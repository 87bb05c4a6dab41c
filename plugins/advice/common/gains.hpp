// What a change to some operators would gain: bytes that are no longer read and written, and time
// by the roofline on the hardware profile of the run (plugins/metrics/roofline).
//
//   Ledger ledger(graph, call);
//   auto gain = ledger.gain_of({conv, relu}, {.read = bytes, .written = bytes},
//   OpClass::kConvolution); … ledger.report(finding, gains);   // "…: 21.0 % less to read and
//   write, 9.0 % less time on …"
#pragma once
#include "plugins/common/machine/machine.hpp"
#include <optional>
#include <span>
#include <string>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

#pragma GCC visibility push(hidden)
namespace advice {

/// Bytes that one operator, or a set of them, moves; or that need not be moved.
struct Moved {
  double read = 0, written = 0;
  double all() const { return read + written; }
  Moved& operator+=(const Moved& o) { return read += o.read, written += o.written, *this; }
};

/// What one place in the model would gain.
struct Gain {
  std::vector<tmeter::Node> nodes;  // what it is about, in order
  Moved saved;
  std::optional<double> seconds;  // saved; empty when the profile cannot tell
  std::string kind;               // "conv2d → batch_norm in Bottleneck"
  /// Those that would be gone; empty: the ones without MACs, or all but the slowest where none has
  /// any.
  std::vector<tmeter::Node> gone{};
};

/// Metrics that analyses with a Ledger must name as required.
inline constexpr const char* kRequired = "macs other_flops read_bytes written_bytes predicted_time";

class Ledger {
 public:
  Ledger(const tmeter::Graph& graph, const tmeter::Call& call);

  /// Of the whole model, operators whose traffic is unknown left out.
  const Moved& moved() const { return moved_; }
  std::optional<double> seconds() const { return seconds_; }
  std::optional<Moved> moved_by(const tmeter::Node& node) const;
  /// Of one operator, without the overhead of its call; empty when they are unknown.
  std::optional<machine::Times> times_of(const tmeter::Node& node);
  /// Seconds that each call takes besides; 0 where the profile has none.
  double overhead() const { return overhead_; }

  /// `nodes` become one operator of class `kind`, which moves `saved` less than they do and does
  /// the arithmetic of all but `gone` of them, the last ones. Empty when their work is unknown.
  std::optional<Gain> merged(std::vector<tmeter::Node> nodes, const Moved& saved,
                             tmeter::OpClass kind, size_t gone = 0);
  /// `nodes` are not there any more.
  std::optional<Gain> dropped(std::vector<tmeter::Node> nodes);

  /// The tensors of type `from` are of type `to` instead; `less`: the shares of the bytes it reads
  /// and writes that this saves. Its arithmetic is at the rate of `to` if it was of type `from`.
  std::optional<Gain> converted(const tmeter::Node& node, tmeter::DType from, tmeter::DType to,
                                const Moved& less);
  /// Its MACs, if of type `type`, take a `factor` of the time less. Empty where the profile has no
  /// rates.
  std::optional<Gain> sped_up(const tmeter::Node& node, tmeter::DType type, double factor);

  /// Completes a finding: what is saved in all after `text`, the commonest kinds as evidence, the
  /// nodes as targets, changes of read_bytes, written_bytes and predicted_time.
  void report(tmeter::Finding& finding, std::span<const Gain> gains) const;
  /// The same without the kinds.
  void report_totals(tmeter::Finding& finding, std::span<const Gain> gains) const;
  /// What those operators took that would be gone, where the model was run. ""; "; as measured
  /// here, what would be gone takes 312 us (13.1 %)".
  std::string measured_text(std::span<const Gain> gains) const;
  /// Targets and changes alone.
  void complete(tmeter::Finding& finding, std::span<const Gain> gains) const;
  /// Whether the gains come to this share of the model's time; of its bytes where the profile
  /// cannot tell the time.
  bool matter(std::span<const Gain> gains, double share) const;

 private:
  double measured_gone(const Gain& gain) const;
  std::optional<machine::Work> work_of(const tmeter::Node& node);
  Gain changed(const tmeter::Node& node, const machine::Work& now, const machine::Work& then,
               const Moved& saved);
  /// Of one operator call that does all this.
  std::optional<double> seconds_of(std::span<const machine::Work> parts);

  const tmeter::Call& call_;
  machine::Machine machine_{"predicted time"};
  Moved moved_;
  std::optional<double> seconds_;
  double overhead_ = 0;
  bool can_tell_time_ = false;
};

/// "conv2d → batch_norm in Bottleneck": the operators, and the type of the innermost module that
/// has them all.
std::string kind_of(std::span<const tmeter::Node> nodes);

/// " in Bottleneck"; a container that is never called has no type, and goes by what it is in.
std::string in_module(tmeter::Module module);

/// "12 × conv2d → relu in Bottleneck 3.06 MiB, …": the kinds that save most.
std::string kinds_text(std::span<const Gain> gains);

/// "12 × relu in Bottleneck, …": the commonest.
std::string counts_text(std::span<const Gain> gains);

/// A whole number; unknown where no count holds it.
tmeter::Cell count_cell(double number);

std::string bytes_text(double bytes);
std::string seconds_text(double seconds);

}  // namespace advice
#pragma GCC visibility pop
