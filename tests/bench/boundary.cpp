// The time taken by the process boundary.
//
//   boundary
//     from the call of `supervise` to its return, with a worker that enters the sandbox, sends a
//     report of 4 kB and ends: the whole share of a .pt2
//   boundary LIBRARY [FOLDER…]
//     the same with a worker that first opens LIBRARY, such as torch-backend.tmeter, compared with
//     a process that opens it itself; the FOLDERs have its own libraries. The time includes system
//     calls through the filter, files through Landlock and copied pages
//
// It excludes pages that are copied because the worker writes to them later. TMETER_SANDBOX=off
// shows the sandbox's share.
#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "core/process/sandbox.hpp"
#include "core/process/supervisor.hpp"

extern char** environ;

namespace {
using namespace tmeter::core;

double milliseconds(auto&& work) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

void open_library(const std::string& library) {
  if (library.empty() || dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) return;
  std::fprintf(stderr, "%s\n", dlerror());
  std::exit(2);
}

int supervised(const std::string& library, const std::vector<std::string>& folders) {
  Rights rights{{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo",
                 "/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/zero", "/dev/urandom",
                 "/proc/cpuinfo", "/proc/meminfo", "/proc/sys/vm", "/sys/devices/system",
                 "/sys/kernel/mm", "/proc/self", "/tmp"}};
  rights.read.insert(rights.read.end(), folders.begin(), folders.end());
  Job job;
  job.targets = {"/dev/null"};
  job.limits.memory = default_max_memory();
  return supervise(job, [&](Worker& worker) -> Ending {
    worker.enter_sandbox(rights);
    open_library(library);
    worker.report(0, std::string(4000, 'x'));
    return {};
  });
}

void print(const char* what, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  std::printf("%s: fastest %.2f ms, median %.2f ms of %zu\n", what, times[0],
              times[times.size() / 2], times.size());
}

void run(std::vector<char*> arguments) {
  pid_t child = 0;
  int status = 0;
  arguments.push_back(nullptr);
  posix_spawn(&child, arguments[0], nullptr, nullptr, arguments.data(), environ);
  waitpid(child, &status, 0);
  if (status != 0) std::exit(2);
}

/// Runs both ways alternately, each in a process of its own.
void compare(int argc, char** argv) {
  constexpr int kRuns = 40;
  std::string self = "/proc/self/exe", ways[] = {"--alone", "--supervised"};
  std::vector<double> times[2];
  for (int i = 0; i < 2 * kRuns; ++i) {
    std::vector<char*> arguments{self.data(), ways[i % 2].data()};
    arguments.insert(arguments.end(), argv + 1, argv + argc);
    times[i % 2].push_back(milliseconds([&] { run(arguments); }));
  }
  print("alone", times[0]);
  print("supervised", times[1]);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "--alone") open_library(argv[2]), _exit(0);  // as the worker does
  if (first == "--supervised") return supervised(argv[2], {argv + 3, argv + argc});
  if (!first.empty()) return compare(argc, argv), 0;
  std::vector<double> times;
  for (int i = 0; i < 300; ++i) times.push_back(milliseconds([] { supervised("", {}); }));
  print("boundary", times);
}
