// How fast something goes at its best: work is repeated until it takes long enough to be timed, on
// some threads at once, and the fastest of several repeats counts, for whatever else runs on the
// machine only ever slows it down.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

namespace measure {

/// Does something `times` times on thread `thread`; returns how much was done, in whatever is
/// counted.
using Work = std::function<double(size_t times, unsigned thread)>;

struct Effort {
  double seconds = 1e-3;  ///< that one repeat takes at least
  int patience = 6;       ///< repeats without a new best until that is believed
  int most = 40;          ///< repeats
};

/// Per second, of all threads together.
double best_rate(const Work& work, unsigned threads, const Effort& effort);

/// Processors that this process may run on.
unsigned usable_threads();

/// A figure of a profile, as TOML on standard output.
void print_figure(const std::string& key, double value, const char* unit,
                  const std::string& source);

}  // namespace measure
