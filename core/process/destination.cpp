#include "core/process/destination.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <string_view>

namespace tmeter::core {
namespace {
namespace fs = std::filesystem;

std::optional<int> number(std::string_view text) {
  int value = -1;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = failed == std::errc() && end == text.data() + text.size() && value >= 0;
  return whole ? std::optional(value) : std::nullopt;
}

/// 5 of "/dev/fd/5", "/proc/self/fd/5" and "/proc/PID/fd/5", where PID is this process.
std::optional<int> descriptor_named(const std::string& path) {
  if (path == "/dev/stdin") return STDIN_FILENO;
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  const auto slash = path.rfind('/');
  if (slash == path.npos) return std::nullopt;
  const auto folder = path.substr(0, slash);
  const auto process = "/proc/" + std::to_string(getpid());
  const bool own = folder == "/dev/fd" || folder == "/proc/self/fd" ||
                   folder == "/proc/thread-self/fd" || folder == process + "/fd" ||
                   folder == process + "/task/" + std::to_string(getpid()) + "/fd";
  return own ? number(std::string_view(path).substr(slash + 1)) : std::nullopt;
}

/// The same through links. Links in the folder's name are resolved at once, the last one step by
/// step: /proc/self/fd/1 is a descriptor, even if its target names a file.
std::optional<int> descriptor_of(std::string path) {
  constexpr int kMaxLinks = 40;  // as the kernel
  for (int i = 0; i < kMaxLinks; ++i) {
    if (const auto fd = descriptor_named(path)) return fd;
    std::error_code failed;
    const auto folder = fs::canonical(fs::absolute(path, failed).parent_path(), failed);
    if (failed) return std::nullopt;
    const auto place = folder / fs::path(path).filename();
    if (const auto fd = descriptor_named(place.string())) return fd;
    const auto link = fs::read_symlink(place, failed);
    if (failed) return std::nullopt;
    path = (folder / link).lexically_normal().string();
  }
  return std::nullopt;
}

bool is_file_of(int descriptor, const struct stat& info) {
  struct stat own {};
  return fstat(descriptor, &own) == 0 && own.st_dev == info.st_dev && own.st_ino == info.st_ino;
}

}  // namespace

Destination find_destination(const std::string& path) {
  using Kind = Destination::Kind;
  if (path.empty()) return {Kind::kDescriptor, path, STDOUT_FILENO, false};
  if (const auto fd = descriptor_of(path)) return {Kind::kDescriptor, path, *fd, false};
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    // No file is created in /dev, except in /dev/shm, which is ordinary memory.
    const bool device = path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
    return {device ? Kind::kDevice : Kind::kFile, path, -1, false};
  }
  if (!S_ISREG(info.st_mode)) return {Kind::kDevice, path, -1, S_ISFIFO(info.st_mode)};
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
    if (is_file_of(fd, info)) return {Kind::kDescriptor, path, fd, false};
  return {Kind::kFile, path, -1, false};
}

bool is_standard_output(const std::string& path) {
  const auto destination = find_destination(path);
  return destination.kind == Destination::Kind::kDescriptor &&
         destination.descriptor == STDOUT_FILENO;
}

}  // namespace tmeter::core
