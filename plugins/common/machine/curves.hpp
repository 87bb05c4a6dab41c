// The expected time of an operator on a device, and the spread of measured times around it, by
// curves that tests/predictions/fit.py fits on published measurements (curves.inc), and the shares
// `curve.*` of the hardware profile.
//
//   time [s]   = call + sqrt(arithmetic² + traffic²)
//   arithmetic = (max(wide · (MACs + edge · outputs), block · threads.resident · depth) / gain
//                 + fill) / (peak.mac · share) + other operations / peak.op
//   traffic    = (bytes + read again · (1 − hit)) / (peak.dram · memory)
//   wide       = columns, rounded up to those of a kernel / columns;  depth = MACs / outputs
//   hit        = max(0, 1 − reuse · rows in flight / cache.l2)
//   all-reduce = call + 2 · (n − 1) / n · bytes / (link.bandwidth · share)
//
// docs/predictions.md compares them with measurements outside of the fit.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plugins/common/machine/machine.hpp"

#pragma GCC visibility push(hidden)  // hidden like the SDK types inside
namespace machine {

/// Seconds; eight of ten measured times are between `low` and `high`.
struct Expected {
  double seconds = 0, low = 0, high = 0;

  Expected& operator+=(const Expected& e) {
    seconds += e.seconds, low += e.low, high += e.high;
    return *this;
  }
};

/// The parts of an expected time that columns show; ids and titles are made of them.
struct BandEnd {
  std::string_view suffix, title;
  double Expected::*value;
};
inline constexpr std::array<BandEnd, 3> kBandEnds{{{"", "expected", &Expected::seconds},
                                                   {"_low", "at least", &Expected::low},
                                                   {"_high", "at most", &Expected::high}}};

class Curves {
 public:
  /// Reads the profile of this run; `machine` has been started.
  void start(const Machine& machine, const tmeter::Call& call);
  /// Why the profile gives no times, as a sentence; empty if it gives times.
  const std::string& missing() const { return missing_; }
  /// "fitted on this device", "carried over from other devices", or both by units.
  std::string origin() const;

  /// The time of all parts in sequence; empty if the profile lacks a value for their type or a
  /// share for their units. Work of 0 takes no time.
  std::optional<Expected> of(std::span<const Work> parts, Machine& machine,
                             const tmeter::Call& call) const;

  /// The time of summing `bytes` of each of `devices` in all of them, by a ring over
  /// `link.bandwidth`; empty if the profile lacks that.
  static std::optional<Expected> all_reduce(double bytes, double devices, const tmeter::Call& call);

 private:
  std::optional<Expected> of(const Work& work, Machine& machine, const tmeter::Call& call) const;

  /// Bytes of a row that come from memory once more.
  double read_again(const Work& work, double reuse) const;

  struct Share {
    std::optional<double> value;
    bool fitted = false;              // fitted on this device
    std::optional<double> low, high;  // the device's own band
  };
  static Share share_of(std::string_view units, const tmeter::Call& call);

  Share vector_, tensor_, convolution_;
  std::optional<double> memory_;  // share of peak.dram, fitted on this device
  std::optional<double> cache_,
      threads_;  // bytes of the L2; threads that the device holds at a time
  std::string missing_;
};

}  // namespace machine
#pragma GCC visibility pop
