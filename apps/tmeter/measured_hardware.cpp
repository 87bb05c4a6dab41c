#include "apps/tmeter/measured_hardware.hpp"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/base/descriptor.hpp"
#include "core/base/error.hpp"
#include "core/base/output_file.hpp"
#include "core/base/sha256.hpp"
#include "core/base/text.hpp"
#include "core/base/version.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/process/terminal.hpp"

namespace tmeter::app {
namespace {
using namespace core;
namespace fs = std::filesystem;

constexpr std::string_view kLastLine = "# complete\n";
constexpr size_t kMostBytes = size_t{1} << 20;

/// What a profile of a machine must have to be of use.
constexpr const char* kWanted[] = {"peak.dram", "peak.mac.float32", "peak.op.float32"};

std::string read_at_most(const std::string& path, size_t most) {
  std::ifstream in(path, std::ios::binary);
  std::string text(most, '\0');
  in.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

struct Processor {
  std::string name;   // for people
  std::string facts;  // what makes it another one
};

/// The lines of /proc/cpuinfo that differ between kinds of processors, not between moments or cores.
Processor processor() {
  static const std::set<std::string, std::less<>> kFacts{
      "vendor_id", "cpu family", "model", "model name", "stepping", "flags", "Features",
      "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision"};
  Processor out;
  std::set<std::string> seen;
  for (const auto& line : split(read_at_most("/proc/cpuinfo", kMostBytes), "\n")) {
    const auto colon = line.find(':');
    if (colon == line.npos) continue;
    const auto key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    const auto value = line.substr(std::min(colon + 2, line.size()));
    if (key == "model name" && out.name.empty()) out.name = value;
    if (kFacts.contains(key) && seen.insert(line).second) out.facts += line + "\n";
  }
  if (out.name.empty()) out.name = "this machine";
  return out;
}

int usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
}

std::string today() {
  const auto now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

/// The first line of a kept profile: which machine and which tmeter it is of.
std::string first_line(const Processor& p) {
  const auto facts = p.facts + std::to_string(usable_processors());
  return "# measured by tmeter " TMETER_VERSION " on machine " + sha256_hex(facts).substr(0, 32) +
         "\n";
}

/// TOML's basic strings; control characters are spelled out.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::optional<MeasuredHardware> parsed(std::string text, const std::string& first) {
  if (!text.starts_with(first) || !text.ends_with(kLastLine)) return std::nullopt;
  try {
    MeasuredHardware out{text, parse_hardware(text, "the measured profile")};
    for (const char* key : kWanted) {
      const auto at = out.profile.numbers.find(key);
      if (at == out.profile.numbers.end() || at->second.value <= 0) return std::nullopt;
    }
    return out;
  } catch (const Error&) {
    return std::nullopt;
  }
}

[[noreturn]] void cannot(const std::string& why) {
  throw Error(ErrorKind::kUsage, "--hardware auto: this machine cannot be measured: " + why +
                                     "; name a profile instead");
}

std::string all_of(int fd) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const auto n = read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    if (text.size() < kMostBytes) text.append(buffer, static_cast<size_t>(n));
  }
}

/// "ended with status 2", "was ended by signal 14"
std::string how_it_ended(int status) {
  if (WIFSIGNALED(status))
    return "was ended by signal " + std::to_string(WTERMSIG(status));
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

/// What the program prints.
std::string run_program(const std::string& program, const std::string& argument) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) cannot(std::strerror(errno));
  Descriptor out(ends[0]), in(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.get(), STDOUT_FILENO);
  char* arguments[] = {const_cast<char*>(program.c_str()), const_cast<char*>(argument.c_str()),
                       nullptr};
  pid_t child = 0;
  const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) cannot(program + ": " + std::strerror(failed));
  in = Descriptor();
  auto text = all_of(out.get());
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  // Ctrl-C goes to the program, too.
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)
    throw Error(ErrorKind::kInterrupted, "interrupted");
  if (status != 0) cannot(program + " " + how_it_ended(status));
  return text;
}

/// A cache that cannot be written costs the next run a few seconds, and this one nothing.
std::string keep(const std::string& file, const std::string& text) {
  if (file.empty()) return "neither XDG_CACHE_HOME nor HOME is set";
  try {
    fs::create_directories(fs::path(file).parent_path());
    OutputFile out(file);
    out.write(text);
    out.commit();
    return {};
  } catch (const std::exception& e) {
    return e.what();
  }
}

}  // namespace

std::string measured_hardware_file() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache == '/') return std::string(cache) + "/tmeter/hardware.toml";
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/tmeter/hardware.toml" : std::string();
}

MeasuredHardware measured_hardware(bool quiet, bool anew) {
  const auto cpu = processor();
  const auto first = first_line(cpu);
  const auto file = measured_hardware_file();
  if (!anew && !file.empty()) {
    if (auto kept = parsed(read_at_most(file, kMostBytes), first)) return *std::move(kept);
  }
  Terminal terminal(false);
  if (!quiet) terminal.message("note: measuring this machine, once: some seconds, best while it is idle");
  const auto title = cpu.name + ", " + std::to_string(usable_processors()) + " threads, measured " + today();
  const auto text = first + "name = \"auto\"\ntitle = " + quoted(title) + "\ndate = \"" + today() +
                    "\"\n" + run_program(own_program("measure-machine"), today()) +
                    std::string(kLastLine);
  auto measured = parsed(text, first);
  if (!measured) cannot("measure-machine did not print a profile");
  const auto problem = keep(file, text);
  if (!problem.empty() && !quiet)
    terminal.message("note: what was measured cannot be kept, the next run measures again: " + problem);
  return *std::move(measured);
}

void measure_if_auto(Settings& settings, bool quiet) {
  if (settings.hardware == "auto")
    settings.measured_hardware = measured_hardware(quiet).profile;
}

}  // namespace tmeter::app
