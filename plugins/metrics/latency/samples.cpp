#include "samples.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tmeter/cpp/units.hpp>

#include "readings.hpp"

namespace latency {

void Samples::sort() const {
  if (!sorted_) std::sort(values_.begin(), values_.end());
  sorted_ = true;
}

double Samples::quantile(double q) const {
  if (empty()) return 0;
  sort();
  const double at = q * static_cast<double>(count() - 1);
  const auto below = static_cast<size_t>(at);
  const auto above = std::min(below + 1, count() - 1);
  return values_[below] + (at - static_cast<double>(below)) * (values_[above] - values_[below]);
}

Interval Samples::of_median() const {
  if (empty()) return {};
  sort();
  const auto n = static_cast<double>(count());
  const double half = 1.96 * std::sqrt(n) / 2;
  const auto rank = [&](double r) {  // counted from 1
    return static_cast<size_t>(std::clamp(r, 1.0, n)) - 1;
  };
  return {values_[rank(std::floor(n / 2 - half))], values_[rank(std::ceil(n / 2 + half) + 1)]};
}

double Samples::uncertainty() const {
  const auto interval = of_median();
  return median() > 0 ? (interval.high - interval.low) / 2 / median() : 0;
}

namespace {

constexpr size_t kMinTrustedRuns = 10;
constexpr double kMaxSpread = 1.3;           // p95 / p5
constexpr double kMaxOperatorRatio = 1.5;    // operators / run, or the other way round
constexpr double kTooShortToCompare = 1e-3;  // s; the events of an operator take a part of it
constexpr double kIdleLoad = 0.25;           // processors: the load of an idle machine
constexpr double kMinObservedSeconds = 0.3;  // the machine counts in ticks of 10 ms

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 1000 ? "%.3g" : "%.0f", value);
  return text;
}

std::string time(double seconds) { return tmeter::scaled(seconds, TMETER_UNIT_SECOND, "s").text(); }

double own_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

double busy_seconds(double& processors) {
  double ticks = 0;
  const auto cpus = sensors::cpu_times("");
  for (const auto& cpu : cpus) ticks += cpu.busy;
  processors = static_cast<double>(cpus.size());
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

std::vector<std::string> distrust_reasons(const RunConditions& c) {
  std::vector<std::string> out;
  if (c.runs < kMinTrustedRuns)
    out.push_back(c.runs == 1 ? "only one run was measured"
                              : "only " + std::to_string(c.runs) + " runs were measured");
  if (c.p5 > 0 && c.p95 > kMaxSpread * c.p5)
    out.push_back("the times vary: p95 is " + number(c.p95 / c.p5) + " times p5");
  if (c.others > kIdleLoad && c.others + c.threads > c.processors + kIdleLoad)
    out.push_back("other processes kept " + number(c.others) + " of " + number(c.processors) +
                  " processors busy");
  const bool compares = c.operators > 0 && c.median > kTooShortToCompare;
  if (compares &&
      (c.operators > kMaxOperatorRatio * c.median || c.median > kMaxOperatorRatio * c.operators))
    out.push_back("the operators' times add up to " + time(c.operators) + ", a whole run takes " +
                  time(c.median));
  return out;
}

OtherProcesses::OtherProcesses()
    : since_(std::chrono::steady_clock::now()),
      all_(busy_seconds(processors_)),
      own_(own_seconds()) {}

std::optional<double> OtherProcesses::busy() const {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - since_;
  double processors = 0;
  const auto all = busy_seconds(processors) - all_;
  if (processors == 0 || processors_ == 0 || passed.count() < kMinObservedSeconds)
    return std::nullopt;
  return std::max(0.0, (all - (own_seconds() - own_)) / passed.count());
}

}  // namespace latency
