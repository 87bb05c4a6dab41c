#include "readings.hpp"

#include <algorithm>
#include <charconv>

#include "files.hpp"

namespace sensors {
namespace {

constexpr double kSector = 512;  // bytes; the unit of diskstats, not of the disk

std::optional<double> real_in(std::string_view word) {
  const auto value = number_in(word);
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

/// "VmRSS:	  12345 kB" → 12345
std::optional<double> field(const std::string& text, std::string_view key) {
  for (const auto line : lines_of(text)) {
    const auto words = words_of(line);
    if (words.size() >= 2 && words[0] == key) return real_in(words[1]);
  }
  return std::nullopt;
}

std::optional<double> times(std::optional<double> value, double factor) {
  return value ? std::optional(*value * factor) : std::nullopt;
}

bool is_disk(std::string_view name) {
  for (const std::string_view other : {"loop", "ram", "dm-", "md", "zram", "sr", "fd"})
    if (name.starts_with(other)) return false;
  return !name.empty();
}

/// "sda1" of "sda", "nvme0n1p2" of "nvme0n1".
bool is_part_of(std::string_view name, std::string_view disk) {
  if (!name.starts_with(disk) || name.size() == disk.size()) return false;
  auto rest = name.substr(disk.size());
  if (rest.front() == 'p') rest.remove_prefix(1);
  return rest.find_first_not_of("0123456789") == rest.npos;
}

double megahertz(std::string_view word) {
  double value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

void add(std::optional<double>& sum, std::optional<double> value) {
  if (value) sum = sum.value_or(0) + *value;
}

}  // namespace

std::vector<CpuTimes> cpu_times(const std::string& root) {
  // cpu0 user nice system idle iowait irq softirq steal; guest times are in user and nice
  constexpr size_t kIdle = 4, kWaiting = 5, kMaxColumns = 9;
  std::vector<CpuTimes> out;
  const auto file = read_file(root + "/proc/stat");
  for (const auto line : lines_of(file.text)) {
    const auto words = words_of(line);
    if (words.size() <= kWaiting || !words[0].starts_with("cpu") || words[0] == "cpu") continue;
    CpuTimes t;
    for (size_t i = 1; i < std::min(words.size(), kMaxColumns); ++i) {
      const double ticks = real_in(words[i]).value_or(0);
      t.total += ticks;
      if (i != kIdle && i != kWaiting) t.busy += ticks;
    }
    out.push_back(t);
  }
  return out;
}

std::vector<double> cpu_frequencies(const std::string& root) {
  std::vector<double> out;
  const auto folder = root + "/sys/devices/system/cpu";
  for (const auto& cpu : names_in(folder, "cpu")) {
    const auto khz = read_number(folder + "/" + cpu + "/cpufreq/scaling_cur_freq");
    if (khz) out.push_back(static_cast<double>(*khz) * 1e3);
  }
  if (!out.empty()) return out;
  const auto file = read_file(root + "/proc/cpuinfo");
  for (const auto line : lines_of(file.text)) {
    if (!line.starts_with("cpu MHz")) continue;
    const double mhz = megahertz(words_of(line).back());
    if (mhz > 0) out.push_back(mhz * 1e6);
  }
  return out;
}

ProcessState process_state(const std::string& root) {
  ProcessState out;
  const auto status = read_file(root + "/proc/self/status");
  out.resident = times(field(status.text, "VmRSS:"), 1024);
  out.peak = times(field(status.text, "VmHWM:"), 1024);
  const auto io = read_file(root + "/proc/self/io");
  out.read = field(io.text, "read_bytes:");
  out.written = field(io.text, "write_bytes:");
  // The name in brackets may hold anything: fields are counted after it. minflt is 10th, majflt
  // 12th.
  const auto stat = read_file(root + "/proc/self/stat");
  const auto end = stat.text.rfind(')');
  if (end == stat.text.npos) return out;
  const auto words = words_of(std::string_view(stat.text).substr(end + 1));
  if (words.size() > 9) out.minor_faults = real_in(words[7]), out.major_faults = real_in(words[9]);
  return out;
}

Traffic disk_traffic(const std::string& root) {
  Traffic out;
  const auto file = read_file(root + "/proc/diskstats");
  std::string_view disk;  // the last one: its partitions follow it
  for (const auto line : lines_of(file.text)) {
    const auto words = words_of(line);
    if (words.size() < 10 || !is_disk(words[2])) continue;
    if (!disk.empty() && is_part_of(words[2], disk)) continue;
    disk = words[2];
    add(out.in, times(real_in(words[5]), kSector));
    add(out.out, times(real_in(words[9]), kSector));
  }
  return out;
}

Traffic network_traffic(const std::string& root) {
  Traffic out;
  const auto file = read_file(root + "/proc/net/dev");
  for (const auto line : lines_of(file.text)) {
    const auto colon = line.find(':');
    if (colon == line.npos) continue;
    const auto name = words_of(line.substr(0, colon));
    const auto words = words_of(line.substr(colon + 1));
    if (name.size() != 1 || name[0] == "lo" || words.size() < 9) continue;
    add(out.in, real_in(words[0]));
    add(out.out, real_in(words[8]));
  }
  return out;
}

namespace {

std::vector<Probe> probes(const std::string& root, const std::string& beginning,
                          const std::vector<std::string>& endings, double scale) {
  std::vector<Probe> out;
  const auto folder = root + "/sys/class/hwmon";
  for (const auto& chip : names_in(folder, "hwmon")) {
    const auto path = folder + "/" + chip;
    const auto chip_name = read_line(path + "/name");
    for (const auto& file : names_in(path, beginning)) {
      const auto underscore = file.find('_');
      bool matches = false;
      for (const auto& e : endings)
        matches = matches || file.substr(std::min(underscore, file.size())) == e;
      if (!matches) continue;
      const auto label = read_line(path + "/" + file.substr(0, underscore) + "_label");
      Probe probe{(chip_name.empty() ? chip : chip_name) + ": " +
                      (label.empty() ? file.substr(0, underscore) : label),
                  path + "/" + file, scale};
      if (read_probe(probe)) out.push_back(std::move(probe));
    }
  }
  return out;
}

}  // namespace

std::vector<Probe> temperature_probes(const std::string& root) {
  return probes(root, "temp", {"_input"}, 1e-3);
}

std::vector<Probe> power_probes(const std::string& root) {
  return probes(root, "power", {"_input", "_average"}, 1e-6);
}

std::optional<double> read_probe(const Probe& probe) {
  const auto line = read_line(probe.file);
  const bool below = line.starts_with('-');
  const auto value = number_in(std::string_view(line).substr(below ? 1 : 0));
  if (!value) return std::nullopt;
  return static_cast<double>(*value) * (below ? -probe.scale : probe.scale);
}

std::optional<double> throttle_events(const std::string& root) {
  const auto folder = root + "/sys/devices/system/cpu";
  std::optional<double> sum;
  for (const auto& cpu : names_in(folder, "cpu")) {
    const auto count = read_number(folder + "/" + cpu + "/thermal_throttle/package_throttle_count");
    if (count) sum = std::max(sum.value_or(0), static_cast<double>(*count));
  }
  return sum;
}

}  // namespace sensors
