#include "apps/tmeter/measured_hardware.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <tmeter/cpp/sha256.hpp>

#include "apps/tmeter/calibration.hpp"
#include "apps/tmeter/child_program.hpp"
#include "core/base/descriptor.hpp"
#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/base/version.hpp"
#include "core/plugin_host/registry.hpp"
#include "core/process/end_signals.hpp"
#include "core/process/terminal.hpp"

namespace tmeter::app {
namespace {
using namespace core;
namespace fs = std::filesystem;

// A file that tmeter keeps between runs, in its folder below the user's cache. Files that
// others could have written are ignored, and links are not followed.

constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;

/// The file's folder. -1 with errno if it is a link or belongs to another user.
Descriptor own_folder(const fs::path& folder) {
  const Descriptor above(open(folder.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  Descriptor own(openat(above.get(), folder.filename().c_str(),
                        O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (own.get() < 0 || fstat(own.get(), &info) != 0) return Descriptor();
  if (info.st_uid == geteuid() && !(info.st_mode & S_IWOTH)) return own;
  errno = EPERM;
  return Descriptor();
}

std::string failure(const std::string& what) { return what + ": " + std::strerror(errno); }

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return fsync(fd) == 0;
}

/// Its text, of at most `most` bytes. Empty for a file that is missing, a link, not regular,
/// owned by another user, or writable for others.
std::optional<std::string> read_kept_file(const std::string& path, size_t most) {
  const auto folder = own_folder(fs::path(path).parent_path());
  const Descriptor file(openat(folder.get(), fs::path(path).filename().c_str(),
                               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (folder.get() < 0 || file.get() < 0 || fstat(file.get(), &info) != 0) return std::nullopt;
  if (!S_ISREG(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & kOthersMayWrite))
    return std::nullopt;
  std::string text(most, '\0');
  size_t size = 0;
  for (ssize_t n = 1; n > 0 && size < most; size += static_cast<size_t>(n > 0 ? n : 0))
    n = read(file.get(), text.data() + size, most - size);
  text.resize(size);
  return text;
}

/// Writes the whole file or none, readable only by this user; makes its folder and those above.
/// Returns the obstacle, or nothing.
std::string write_kept_file(const std::string& path, const std::string& text) {
  const auto folder_path = fs::path(path).parent_path();
  const auto name = fs::path(path).filename().string(), unfinished = name + ".new";
  std::error_code failed;
  fs::create_directories(folder_path.parent_path(), failed);
  if (mkdir(folder_path.c_str(), 0700) != 0 && errno != EEXIST)
    return failure(folder_path.string());
  const auto folder = own_folder(folder_path);
  if (folder.get() < 0) return failure(folder_path.string() + " is not a folder of this user");
  struct stat info {};
  const bool exists = fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && !S_ISREG(info.st_mode)) return path + " is not a regular file";
  const core::EndSignals deferred_signals;
  unlinkat(folder.get(), unfinished.c_str(), 0);
  const Descriptor file(openat(folder.get(), unfinished.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) return failure(path);
  if (write_all(file.get(), text) &&
      renameat(folder.get(), unfinished.c_str(), folder.get(), name.c_str()) == 0)
    return {};
  const auto why = failure(path);
  unlinkat(folder.get(), unfinished.c_str(), 0);
  return why;
}

constexpr std::string_view kLastLine = "# complete\n";
constexpr size_t kMaxBytes = size_t{1} << 20;

/// The values that a usable profile must have.
constexpr const char* kRequiredRates[] = {"peak.dram", "peak.mac.float32", "peak.op.float32"};

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
    for (const char* key : kRequiredRates) {
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

/// The output of the program.
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
  if (!measured) cannot("its values make no profile");
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
