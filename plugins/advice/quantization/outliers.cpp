#include "outliers.hpp"

#include <algorithm>

namespace quantization {

std::vector<Outlier> outliers_in(const std::vector<float>& largest, double ratio) {
  if (largest.size() < 3) return {};  // no median to stand out from
  auto sorted = largest;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const double median = *middle;
  std::vector<Outlier> out;
  if (median == 0) return out;
  for (size_t i = 0; i < largest.size(); ++i)
    if (largest[i] >= ratio * median) out.push_back({i, largest[i] / median});
  std::stable_sort(out.begin(), out.end(),
                   [](const Outlier& a, const Outlier& b) { return a.ratio > b.ratio; });
  return out;
}

}  // namespace quantization
