#include "apps/tmeter/measured_hardware.hpp"

#include <sched.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <set>
#include <tmeter/cpp/sha256.hpp>

#include "apps/tmeter/calibration.hpp"
#include "apps/tmeter/child_program.hpp"
#include "apps/tmeter/kept_file.hpp"
#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/base/version.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/process/terminal.hpp"

namespace tmeter::app {
namespace {
using namespace core;

constexpr std::string_view kLastLine = "# complete\n";
constexpr size_t kMaxBytes = size_t{1} << 20;

/// The values that a usable profile must have.
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
  std::string facts;  // differs between machines
};

/// The lines of /proc/cpuinfo that differ between kinds of processors, not between moments or
/// cores.
Processor processor() {
  static const std::set<std::string, std::less<>> kFacts{
      "vendor_id",        "cpu family",  "model",    "model name",
      "stepping",         "flags",       "Features", "CPU implementer",
      "CPU architecture", "CPU variant", "CPU part", "CPU revision"};
  Processor out;
  std::set<std::string> seen;
  for (const auto& line : split(read_at_most("/proc/cpuinfo", kMaxBytes), "\n")) {
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

/// "load 8.8 on 2 processors" while others use more than half of them; else empty.
std::string busy() {
  const char* file = std::getenv("TMETER_LOADAVG");  // for tests
  const auto load =
      std::strtod(read_at_most(file && *file ? file : "/proc/loadavg", 64).c_str(), nullptr);
  const int processors = usable_processors();
  if (load <= 0.5 * processors) return {};
  return "load " + short_number(load) + " on " + std::to_string(processors) + " processors";
}

/// The first line of a kept profile: its machine and its version of tmeter.
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

/// The program's output.
std::string measured_rates() {
  const auto program = own_program("measure-machine");
  auto end = run_program({program, today()});
  if (!end.fine()) cannot(program + (end.problem.empty() ? " " : ": ") + end.words());
  return std::move(end.output);
}

/// If the cache cannot be written, the next run measures again.
std::string keep(const std::string& file, const std::string& text) {
  return file.empty() ? "neither XDG_CACHE_HOME nor HOME is set" : write_kept_file(file, text);
}

}  // namespace

std::string measured_hardware_file() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache == '/') return std::string(cache) + "/tmeter/hardware.toml";
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/tmeter/hardware.toml" : std::string();
}

MeasuredHardware measured_hardware(bool quiet, bool again) {
  const auto cpu = processor();
  const auto first = first_line(cpu);
  const auto file = measured_hardware_file();
  if (!again && !file.empty()) {
    const auto text = read_kept_file(file, kMaxBytes);
    if (auto kept = text ? parsed(*text, first) : std::nullopt) return *std::move(kept);
  }
  Terminal terminal(false);
  if (!quiet)
    terminal.message("note: measuring this machine, once: some seconds, best while it is idle");
  const auto others = busy();
  if (!quiet && !others.empty())
    terminal.message("note: this machine is busy (" + others + "): rates come out low" +
                     (again ? "" : " and are not kept; the next run measures again"));
  const auto title = cpu.name + ", " + std::to_string(usable_processors()) + " threads, measured " +
                     today() + (others.empty() ? "" : std::string(kWhileBusy) + others);
  auto text = first + "name = \"auto\"\ntitle = " + quoted(title) + "\ndate = \"" + today() +
              "\"\n" + measured_rates();
  const auto rates = parsed(text + std::string(kLastLine), first);
  if (!rates) cannot("measure-machine did not print a profile");
  text += calibrate(rates->profile, "measured " + today());
  text += kLastLine;
  auto measured = parsed(text, first);
  if (!measured) cannot("its figures make no profile");
  if (!others.empty() && !again) return *std::move(measured);
  const auto problem = keep(file, text);
  if (!problem.empty() && !quiet)
    terminal.message("note: the measured profile cannot be kept, the next run measures again: " +
                     problem);
  return *std::move(measured);
}

void measure_if_auto(Settings& settings, bool quiet) {
  if (settings.hardware == "auto") settings.measured_hardware = measured_hardware(quiet).profile;
}

}  // namespace tmeter::app
