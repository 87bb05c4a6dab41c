#include "files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <tmeter/cpp/natural_order.hpp>

namespace sensors {
namespace {

constexpr size_t kMaxFileBytes = 256 << 10;

std::vector<std::string_view> parts_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; at < text.size();) {
    const auto begin = text.find_first_not_of(separators, at);
    if (begin == text.npos) break;
    at = std::min(text.find_first_of(separators, begin), text.size());
    parts.push_back(text.substr(begin, at - begin));
  }
  return parts;
}

}  // namespace

FileText read_file(const std::string& path) {
  FileText out;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return {{}, errno};
  char buffer[4096];
  while (out.text.size() < kMaxFileBytes) {
    const auto n = read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) out.error = errno;
    if (n <= 0) break;
    out.text.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return out;
}

std::string read_line(const std::string& path) {
  const auto file = read_file(path);
  const auto lines = lines_of(file.text);
  if (lines.empty()) return {};
  const auto line = lines.front();
  const auto begin = line.find_first_not_of(" \t"), end = line.find_last_not_of(" \t");
  return begin == line.npos ? std::string() : std::string(line.substr(begin, end - begin + 1));
}

std::optional<uint64_t> number_in(std::string_view text) {
  const auto words = parts_of(text, " \t\n");
  if (words.size() != 1) return std::nullopt;
  uint64_t value = 0;
  const auto* end = words[0].data() + words[0].size();
  const auto parsed = std::from_chars(words[0].data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

std::optional<uint64_t> read_number(const std::string& path) {
  const auto file = read_file(path);
  return file ? number_in(file.text) : std::nullopt;
}

std::vector<std::string> names_in(const std::string& folder, std::string_view prefix) {
  std::vector<std::string> names;
  DIR* open_folder = opendir(folder.c_str());
  if (!open_folder) return names;
  while (const auto* entry = readdir(open_folder)) {
    std::string name = entry->d_name;
    if (name.starts_with(prefix) && name != "." && name != "..") names.push_back(std::move(name));
  }
  closedir(open_folder);
  std::sort(names.begin(), names.end(), tmeter::natural_less);
  return names;
}

std::vector<std::string_view> words_of(std::string_view line) { return parts_of(line, " \t"); }
std::vector<std::string_view> lines_of(std::string_view text) { return parts_of(text, "\n"); }

}  // namespace sensors
