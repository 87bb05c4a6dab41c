// Channels whose largest weight stands out: they widen the range of all weights that share their
// scale.
#pragma once
#include <cstddef>
#include <vector>

namespace quantization {

struct Outlier {
  size_t index;
  double ratio;  // its largest magnitude over the median of all channels'
};

/// Those at least `ratio` times the median, the largest first. None when half the channels are 0.
std::vector<Outlier> outliers_in(const std::vector<float>& largest, double ratio);

}  // namespace quantization
