#include "core/execution/warm_up.hpp"

#include <algorithm>

namespace tmeter::core {
namespace {
constexpr size_t kCompared = 3, kMaxWarmUpRuns = 50;
constexpr double kSpread = 0.05, kShare = 1.0 / 3;
}  // namespace

void WarmUp::add(double seconds) {
  runs_.push_back(seconds);
  spent_ += seconds;
}

bool WarmUp::is_done() const {
  if (runs_.empty()) return false;
  const double mean = spent_ / static_cast<double>(runs_.size());
  if (spent_ + mean > seconds_ * kShare || runs_.size() >= kMaxWarmUpRuns) return true;
  if (runs_.size() < kCompared) return false;
  const auto [least, most] = std::minmax_element(runs_.end() - kCompared, runs_.end());
  return *most <= *least * (1 + kSpread);
}

}  // namespace tmeter::core
