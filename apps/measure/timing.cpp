#include "timing.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

namespace measure {
namespace {
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Work of all threads per second, from their common start to the end of the last one.
double one_rate(const Work& work, size_t times, unsigned threads) {
  std::atomic<unsigned> ready{0};
  std::atomic<bool> go{false};
  std::vector<double> done(threads);
  std::vector<std::jthread> pool;
  for (unsigned t = 1; t < threads; ++t) {
    pool.emplace_back([&, t] {
      ++ready;
      while (!go) std::this_thread::yield();
      done[t] = work(times, t);
    });
  }
  while (ready + 1 < threads) std::this_thread::yield();
  const auto start = Clock::now();
  go = true;
  done[0] = work(times, 0);
  pool.clear();  // joins
  const double seconds = seconds_since(start);
  double sum = 0;
  for (const double d : done) sum += d;
  return sum / seconds;
}

/// The repetitions of the work that take this time on one thread.
size_t repetitions_for(const Work& work, double seconds) {
  constexpr size_t kMaxRepeats = size_t{1} << 40;
  for (size_t times = 1; times < kMaxRepeats; times *= 2) {
    const auto start = Clock::now();
    work(times, 0);
    const double taken = seconds_since(start);
    if (taken >= seconds) return times;
    if (taken > seconds / 16)
      return static_cast<size_t>(static_cast<double>(times) * seconds / taken) + 1;
  }
  return kMaxRepeats;
}

}  // namespace

double best_rate(const Work& work, unsigned threads, const RepeatLimits& limits) {
  const size_t times = repetitions_for(work, limits.seconds);
  double best = 0;
  for (int i = 0, since = 0; i < limits.most && since < limits.patience; ++i, ++since) {
    const double rate = one_rate(work, times, threads);
    if (rate > 1.01 * best) since = 0;
    best = std::max(best, rate);
  }
  return best;
}

unsigned usable_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());  // the machine has more processors than
                                                             // the set can hold
}

void print_value(const std::string& key, double value, const char* unit,
                 const std::string& source) {
  std::printf("\n[%s]\nvalue = %.6e\nunit = \"%s\"\nsource = \"%s\"\n", key.c_str(), value, unit,
              source.c_str());
}

}  // namespace measure
