// Figures of quantization as findings write them.
#pragma once
#include <string>
#include <tmeter/cpp/words.hpp>

namespace quantization {

using tmeter::count_of;
using tmeter::listed;

inline std::string bytes_text(double v) { return tmeter::scaled(v, TMETER_UNIT_BYTE, "B").text(); }
inline std::string decibels(double v) { return tmeter::fixed(v, 1) + " dB"; }
inline std::string percent(double part, double whole) {
  return tmeter::percent(whole > 0 ? part / whole : 0);
}

}  // namespace quantization
