// Upper bounds of the operators of a run: for each element type the rate of arithmetic at an
// intensity, min(peak, intensity × bandwidth), the roofline of Williams, Waterman and Patterson,
// CACM 52(4), 2009. Once with the bandwidth of memory and, if a profile has higher bandwidths
// for classes of operators, again with the highest of them.
#pragma once
#include <map>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>

#include "plugins/common/machine/machine.hpp"

namespace roofline {

/// Titles of the metrics and of the axes of the series: reports match them by these.
inline constexpr std::string_view kIntensityTitle = "intensity", kIntensityUnit = "FLOP/B",
                                  kRateTitle = "attainable arithmetic/s", kRateUnit = "FLOP/s";

class Ceilings {
 public:
  void forget() { highest_.clear(); }
  /// Adds the work of an operator on the machine.
  void add(const machine::Work& work, machine::Machine& machine, const tmeter::Call& call);
  /// A series of the whole model for each: attainable FLOP/s over FLOP/B.
  void draw(const machine::Machine& machine, tmeter::Call& call) const;

 private:
  struct Rates {
    double flops = 0;   // 1/s
    double caches = 0;  // B/s
  };
  std::map<int32_t, Rates> highest_;  // by element type
};

}  // namespace roofline
