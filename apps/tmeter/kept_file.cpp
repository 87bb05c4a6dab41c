#include "apps/tmeter/kept_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core/base/descriptor.hpp"
#include "core/base/error.hpp"
#include "core/process/end_signals.hpp"

namespace tmeter::app {
namespace {
using core::Descriptor;
namespace fs = std::filesystem;

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

}  // namespace

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

std::string write_kept_file(const std::string& path, const std::string& text) {
  const auto folder_path = fs::path(path).parent_path();
  const auto name = fs::path(path).filename().string(), unfinished = name + ".new";
  std::error_code failed;
  fs::create_directories(folder_path.parent_path(), failed);
  if (mkdir(folder_path.c_str(), 0700) != 0 && errno != EEXIST) return failure(folder_path.string());
  const auto folder = own_folder(folder_path);
  if (folder.get() < 0) return failure(folder_path.string() + " is not a folder of this user");
  struct stat info {};
  const bool exists = fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && !S_ISREG(info.st_mode)) return path + " is not a regular file";
  const core::EndSignals nothing_is_left_half_done;
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

}  // namespace tmeter::app
