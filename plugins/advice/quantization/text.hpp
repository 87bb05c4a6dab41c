// Figures of quantization as findings write them.
#pragma once
#include <string>
#include "plugins/common/wording.hpp"

namespace quantization {

using plugins::count_of;
using plugins::listed;

inline std::string bytes_text(double v) { return tmeter::scaled(v, TMETER_UNIT_BYTE, "B").text(); }
inline std::string decibels(double v) { return tmeter::fixed(v, 1) + " dB"; }
inline std::string percent(double part, double whole) {
  return plugins::percent(whole > 0 ? part / whole : 0);
}

}  // namespace quantization
