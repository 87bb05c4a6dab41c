#include "caches.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>

namespace measure {
namespace {
namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// "48K", "2M", "260096K"; 0 for anything else.
size_t bytes_of(const std::string& text) {
  size_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || value > (size_t{1} << 40)) return 0;
  const std::string unit(end, text.data() + text.size());
  if (unit == "K") return value << 10;
  if (unit == "M") return value << 20;
  return unit.empty() ? value : 0;
}

/// "MemTotal:       24689748 kB"
size_t from_meminfo(const std::string& root, const std::string& key) {
  std::ifstream in(root + "/proc/meminfo");
  std::string name, unit;
  size_t value = 0;
  while (in >> name >> value && std::getline(in, unit)) {
    if (name == key + ":") return value * 1024;
  }
  return 0;
}

void add_cache(const fs::path& folder, std::set<std::string>& seen, Memory& out) {
  const auto type = first_line(folder / "type");
  const auto level = first_line(folder / "level");
  if (type != "Data" && type != "Unified") return;
  if (level.size() != 1 || level[0] < '1' || level[0] > '3') return;
  // Linux lists each cache once per processor that shares it.
  if (!seen.insert(level + ":" + first_line(folder / "shared_cpu_list")).second) return;
  const size_t bytes = bytes_of(first_line(folder / "size"));
  auto& cache = out.caches[static_cast<size_t>(level[0] - '0')];
  cache.each = std::max(cache.each, bytes);
  cache.total += bytes;
}

}  // namespace

Memory memory_of_machine(const std::string& root) {
  Memory out;
  out.total = from_meminfo(root, "MemTotal");
  out.available = from_meminfo(root, "MemAvailable");
  std::set<std::string> seen;
  std::error_code failed;
  for (const auto& cpu : fs::directory_iterator(root + "/sys/devices/system/cpu", failed)) {
    const auto name = cpu.path().filename().string();
    if (!name.starts_with("cpu") || name.find_first_not_of("0123456789", 3) != name.npos) continue;
    for (const auto& index : fs::directory_iterator(cpu.path() / "cache", failed)) {
      if (index.path().filename().string().starts_with("index")) add_cache(index.path(), seen, out);
    }
  }
  return out;
}

}  // namespace measure
