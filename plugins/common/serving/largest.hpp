// The largest size that fits.
#pragma once
#include <algorithm>
#include <cstdint>

namespace serving {

/// The largest n from least to most for which `fits` holds (and then for all smaller ones). Returns
/// least - 1 if no n fits. Small sizes are tried first, because trials of large sizes may be
/// slower.
template <class Fits>
int64_t largest(int64_t least, int64_t most, Fits&& fits) {
  int64_t good = least - 1, bad = most + 1;
  for (int64_t step = 1; good < most; step *= 2) {
    const auto next = step < most - good ? good + step : most;
    if (!fits(next)) {
      bad = next;
      break;
    }
    good = next;
  }
  while (bad - good > 1) {
    const auto middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace serving
