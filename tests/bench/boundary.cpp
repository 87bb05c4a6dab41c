// What the process boundary costs: from the call of `supervise` to its return, with a worker that
// enters the sandbox, sends a report of 4 kB and ends. Pages that the worker writes to later and
// are copied then are not in it. TMETER_SANDBOX=off shows what the sandbox takes of it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "core/process/sandbox.hpp"
#include "core/process/supervisor.hpp"

int main() {
  using namespace tmeter::core;
  using Clock = std::chrono::steady_clock;
  constexpr int kRuns = 300;
  const Rights rights{{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo",
                       "/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/zero",
                       "/dev/urandom", "/proc/cpuinfo", "/proc/meminfo", "/proc/sys/vm",
                       "/sys/devices/system", "/sys/kernel/mm", "/proc/self", "/tmp"}};
  Job job;
  job.targets = {"/dev/null"};
  job.limits.memory = default_max_memory();
  std::vector<double> times;
  for (int i = 0; i < kRuns; ++i) {
    const auto begin = Clock::now();
    supervise(job, [&](Worker& worker) -> Ending {
      worker.enter_sandbox(rights);
      worker.report(0, std::string(4000, 'x'));
      return {};
    });
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  std::printf("fastest %.2f ms, median %.2f ms of %d\n", times[0], times[kRuns / 2], kRuns);
}
