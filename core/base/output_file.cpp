#include "core/base/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/base/error.hpp"

namespace tmeter::core {
namespace {

constexpr uint64_t kPush = uint64_t{1} << 20;

/// Nothing is made there but in the folder that is everybody's memory.
bool is_device_path(const std::string& path) {
  return path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
}

}  // namespace

ErrorKind write_failure(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EIO:
      return ErrorKind::kModel;
    default:
      return ErrorKind::kUsage;
  }
}

OutputFile::OutputFile(const std::string& path) : path_(path) {
  struct stat info {};
  const bool exists = stat(path.c_str(), &info) == 0;
  if ((exists && !S_ISREG(info.st_mode)) || is_device_path(path)) {
    fd_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail("cannot be written");
    return;
  }
  if (char* target = exists ? realpath(path.c_str(), nullptr) : nullptr) {
    path_ = target;
    std::free(target);
  }
  open_temporary();
}

/// Without a name where the file system can: then even a process that is killed leaves nothing.
void OutputFile::open_temporary() {
  const auto folder = std::filesystem::path(path_).parent_path();
  fd_ = open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  nameless_ = fd_ >= 0;
  if (nameless_) return;
  temporary_ = path_ + ".XXXXXX";
  fd_ = mkostemp(temporary_.data(), O_CLOEXEC);
  if (fd_ < 0) fail("cannot be written");
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(fd_, 0666 & ~mask);
}

/// Gives a nameless file a name: its own, or, where that is taken, one to rename it from.
void OutputFile::give_name() {
  const auto self = "/proc/self/fd/" + std::to_string(fd_);
  const auto name = [&](const std::string& path) {
    return linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (name(path_)) return;
  for (int i = 0; errno == EEXIST && i < 1000; ++i) {
    const auto candidate = path_ + "." + std::to_string(getpid()) + "-" + std::to_string(i);
    if (!name(candidate)) continue;
    temporary_ = candidate;
    return;
  }
  fail("cannot be written");
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot be written completely");
    bytes.remove_prefix(static_cast<size_t>(n));
    written_ += static_cast<uint64_t>(n);
  }
  synced_ = false;
  if (written_ - pushed_ >= kPush) push();
}

void OutputFile::push() {
  if (!regular() || written_ == pushed_) return;
  sync_file_range(fd_, static_cast<off64_t>(pushed_), static_cast<off64_t>(written_ - pushed_),
                  SYNC_FILE_RANGE_WRITE);
  pushed_ = written_;
}

void OutputFile::sync() {
  if (regular() && !synced_ && fsync(fd_) != 0) fail("cannot be written completely");
  synced_ = true;
}

void OutputFile::commit() {
  sync();
  if (nameless_) give_name();
  if (close(std::exchange(fd_, -1)) != 0) fail("cannot be written completely");
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be written");
  temporary_.clear();
}

void OutputFile::fail(const std::string& what) {
  throw Error(write_failure(errno),
              "report file " + path_ + " " + what + ": " + std::strerror(errno));
}

}  // namespace tmeter::core
