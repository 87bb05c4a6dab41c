// Measures the best speed of some work: repeats it until it takes long enough to be timed, on
// several threads at once. The fastest of several repeats counts, because other programs can only
// slow it down.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

namespace measure {

/// Does the work `times` times on thread `thread`; returns the amount done, in the counted unit.
using Work = std::function<double(size_t times, unsigned thread)>;

struct RepeatLimits {
  double seconds = 1e-3;  ///< the shortest time of one repeat
  int patience = 6;       ///< repeats without a new best that end the measurement
  int most = 40;          ///< repeats
};

/// The rate per second of all threads together.
double best_rate(const Work& work, unsigned threads, const RepeatLimits& limits);

/// Processors that this process may run on.
unsigned usable_threads();

/// Writes a value of a profile to standard output, as TOML.
void print_value(const std::string& key, double value, const char* unit, const std::string& source);

}  // namespace measure
