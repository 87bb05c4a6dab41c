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

constexpr uint64_t kBytesPerPush = uint64_t{1} << 20;

std::string descriptor_path(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

/// The target of a link, whether or not a file exists there.
std::string without_links(std::string path) {
  namespace fs = std::filesystem;
  constexpr int kMaxLinks = 40;  // the kernel's limit
  for (int i = 0; i < kMaxLinks; ++i) {
    std::error_code none;
    const auto target = fs::read_symlink(path, none);
    if (none) break;
    path = fs::path(path).parent_path() / target;
  }
  return path;
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
  if (exists && !S_ISREG(info.st_mode)) {
    errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
    fail("cannot be written");
  }
  // The kernel may forbid this user to follow a link; then it is not followed here either.
  if (exists || errno == ENOENT) path_ = without_links(path);
  open_temporary();
}

/// Uses a nameless file where the file system supports it: even a killed process then leaves
/// nothing.
void OutputFile::open_temporary() {
  const auto folder = std::filesystem::path(path_).parent_path();
  fd_ = open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  // commit() names the file through this path
  nameless_ = fd_ >= 0 && access(descriptor_path(fd_).c_str(), F_OK) == 0;
  if (nameless_) return;
  if (fd_ >= 0) close(fd_);
  temporary_ = path_ + ".XXXXXX";
  fd_ = mkostemp(temporary_.data(), O_CLOEXEC);
  if (fd_ < 0) fail("cannot be written");
}

/// Takes mode and owner of the replaced file; a new file gets the user's defaults. If this user may
/// not give the file away, it stays the user's, and rights for others are not copied.
void OutputFile::take_over_mode() {
  struct stat before {
  }, now{};
  if (lstat(path_.c_str(), &before) != 0 || !S_ISREG(before.st_mode)) {
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(fd_, 0666 & ~mask);
    return;
  }
  if (fstat(fd_, &now) != 0) return;
  const bool same = before.st_uid == now.st_uid && before.st_gid == now.st_gid;
  const bool owner = same || fchown(fd_, before.st_uid, before.st_gid) == 0;
  const bool group = owner || fchown(fd_, static_cast<uid_t>(-1), before.st_gid) == 0;
  fchmod(fd_, before.st_mode & (owner ? 07777U : group ? 00777U : 00707U));
}

/// Gives a nameless file its name or, if that exists, a temporary name to rename it from.
void OutputFile::give_name() {
  const auto self = descriptor_path(fd_);
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
  if (written_ - pushed_ >= kBytesPerPush) push();
}

void OutputFile::begin_again() {
  if (ftruncate(fd_, 0) != 0 || lseek(fd_, 0, SEEK_SET) != 0) fail("cannot be written");
  written_ = pushed_ = 0;
  synced_ = false;
}

void OutputFile::push() {
  if (written_ == pushed_) return;
  sync_file_range(fd_, static_cast<off64_t>(pushed_), static_cast<off64_t>(written_ - pushed_),
                  SYNC_FILE_RANGE_WRITE);
  pushed_ = written_;
}

void OutputFile::sync() {
  if (!synced_ && fsync(fd_) != 0) fail("cannot be written completely");
  synced_ = true;
}

void OutputFile::commit() {
  sync();
  take_over_mode();
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
