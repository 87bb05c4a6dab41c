// measure-machine DATE: the speed of this machine, as values of a hardware profile (TOML) on
// standard output. `tmeter --hardware auto` starts it once and keeps its output
// (apps/tmeter/measured_hardware.cpp); docs/hardware-profiles.md lists the measurements.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "arithmetic.hpp"
#include "bandwidth.hpp"
#include "caches.hpp"
#include "timing.hpp"

namespace {
using namespace measure;

constexpr unsigned kMaxSeconds = 120;  // s: above it the machine is too busy to be measured
constexpr size_t kMiB = size_t{1} << 20;

class Machine {
 public:
  explicit Machine(std::string date) : threads_(usable_threads()) {
    measured_on_ = "measured " + std::move(date);
  }
  void print() {
    print_arithmetic();
    print_memory();
  }

 private:
  std::string source(unsigned threads, const std::string& what) const {
    return measured_on_ + " on " + std::to_string(threads) +
           (threads == 1 ? " thread: " : " threads: ") + what;
  }
  void print_arithmetic();
  void print_memory();
  void print_level(const std::string& name, size_t bytes_one, size_t bytes_all);

  unsigned threads_;
  std::string measured_on_;
};

/// Tries every instruction set on one thread, then the best one on all threads.
void Machine::print_arithmetic() {
  struct Best {
    const Kernel* kernel;
    const InstructionSet* set;
    double rate;
  };
  const auto sets = instruction_sets();
  std::map<std::string, Best> best;
  for (const auto& set : sets) {
    for (const auto& kernel : set.kernels) {
      const auto rate = best_rate([&](size_t n, unsigned) { return kernel.run(n); }, 1, {});
      const auto key = std::string(kernel.family) + "." + kernel.dtype;
      print_value("isa." + set.name + "." + key, rate,
                  key.starts_with("peak.mac") ? "MAC/s" : "op/s", source(1, kernel.how));
      auto& so_far = best.try_emplace(key, Best{&kernel, &set, 0}).first->second;
      if (rate > so_far.rate) so_far = {&kernel, &set, rate};
    }
  }
  for (const auto& [key, b] : best) {
    const auto* unit = key.starts_with("peak.mac") ? "MAC/s" : "op/s";
    const auto what = std::string(b.kernel->how) + " with " + b.set->name;
    const auto* kernel = b.kernel;
    const auto all =
        best_rate([kernel](size_t n, unsigned) { return kernel->run(n); }, threads_, {});
    print_value("single." + key, b.rate, unit, source(1, what));
    print_value(key, std::max(all, b.rate), unit, source(threads_, what));
  }
}

void Machine::print_level(const std::string& name, size_t bytes_one, size_t bytes_all) {
  const auto one = bandwidth(bytes_one, 1), all = bandwidth(bytes_all, threads_);
  const auto print_rate = [&](const std::string& key, double rate, unsigned threads, size_t bytes,
                              const std::string& what) {
    if (rate > 0)
      print_value(key, rate, "B/s",
                  source(threads, what + " over " + std::to_string(bytes / 1024) + " KiB"));
  };
  const std::string triad = "a = b + s*c, bytes read and written (STREAM triad)", sum = "sums";
  print_rate("single.peak." + name, one.triad, 1, bytes_one, triad);
  print_rate("single.read." + name, one.read, 1, bytes_one, sum);
  print_rate("peak." + name, std::max(one.triad, all.triad), threads_, bytes_all, triad);
  print_rate("read." + name, std::max(one.read, all.read), threads_, bytes_all, sum);
}

void Machine::print_memory() {
  const auto memory = memory_of_machine();
  const auto provenance =
      measured_on_ + ": as Linux reports it (/proc/meminfo, /sys/devices/system/cpu)";
  if (memory.total)
    print_value("capacity.dram", static_cast<double>(memory.total), "B", provenance);
  size_t largest = 0;
  for (size_t level = 1; level <= 3; ++level) {
    const auto& cache = memory.caches[level];
    if (cache.total == 0) continue;
    const auto name = "l" + std::to_string(level);
    print_value("cache." + name, static_cast<double>(cache.total), "B", provenance);
    // Half of a cache; other programs use the rest. Threads share the caches that cores share.
    print_level(name, cache.each / 2, std::min(cache.each / 2 * threads_, cache.total / 2));
    largest = std::max(largest, cache.total);
  }
  // Like STREAM: four times the last cache, but at most a quarter of free memory.
  const size_t preferred = std::max(4 * largest, 128 * kMiB);
  const size_t most = memory.available ? memory.available / 4 : 256 * kMiB;
  const size_t bytes = std::min({preferred, most, 1024 * kMiB});
  print_level("dram", bytes, bytes);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: measure-machine DATE\n", stderr), 2;
  alarm(kMaxSeconds);
  Machine(argv[1]).print();
  return std::fflush(stdout) == 0 ? 0 : 1;
}
