#include "scaling.hpp"

#include <algorithm>

namespace profile {
namespace {
constexpr double kMinSpeedup = 0.98;
}

std::vector<int32_t> Scaling::counts(int32_t most) {
  std::vector<int32_t> out;
  for (int32_t n = 1; n < most; n *= 2) out.push_back(n);
  out.push_back(most);
  return out;
}

std::map<int32_t, double> Scaling::times() const {
  std::map<int32_t, double> out;
  for (auto [threads, runs] : runs_) {
    const auto middle = runs.begin() + static_cast<ptrdiff_t>(runs.size() / 2);
    std::nth_element(runs.begin(), middle, runs.end());
    out[threads] = *middle;
  }
  return out;
}

int32_t Scaling::best() const {
  int32_t best = 0;
  double least = 0;
  for (const auto& [threads, seconds] : times()) {
    if (best != 0 && seconds >= least * kMinSpeedup) continue;
    best = threads, least = seconds;
  }
  return best;
}

double Scaling::efficiency() const {
  const auto all = times();
  if (all.empty() || all.begin()->first != 1 || all.rbegin()->second <= 0) return 0;
  return all.begin()->second / (all.rbegin()->first * all.rbegin()->second);
}

}  // namespace profile
