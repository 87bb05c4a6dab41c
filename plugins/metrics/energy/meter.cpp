#include "meter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace energy {
namespace {

constexpr double kMaxResolution = 0.1;  // a coarser value is replaced by the span of all runs

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

double Meter::resolution() const {
  if (runs_ == 0 || seconds() <= 0) return std::numeric_limits<double>::infinity();
  return interval_ / (seconds() * std::sqrt(6.0 * static_cast<double>(runs_)));
}

bool Meter::by_span() const {
  return resolution() > kMaxResolution && span_seconds_ > 0 &&
         interval_ / span_seconds_ < resolution();
}

double Meter::uncertainty() const { return by_span() ? interval_ / span_seconds_ : resolution(); }

std::optional<double> Meter::watts() const {
  const double joules = by_span() ? span_joules_ : joules_;
  const double seconds = by_span() ? span_seconds_ : seconds_;
  return runs_ > 0 && joules > 0 && seconds > 0 ? std::optional(joules / seconds) : std::nullopt;
}

std::optional<double> Meter::joules() const {
  const auto power = watts();
  return power ? std::optional(*power * seconds()) : std::nullopt;
}

std::vector<double> Meter::attributed(bool by_activity) const {
  const auto all = joules();
  const double time = sum_of(time_), activity = sum_of(activity_);
  if (!all || time <= 0) return {};
  const bool active = by_activity && activity > 0;
  const double idle = active ? std::min(*all, idle_.value_or(0) * seconds()) : 0;
  std::vector<double> out(time_.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const double share = active ? activity_[i] / activity : time_[i] / time;
    out[i] = idle * time_[i] / time + (*all - idle) * share;
  }
  return out;
}

}  // namespace energy
