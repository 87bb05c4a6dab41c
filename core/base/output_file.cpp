#include "core/base/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/base/error.hpp"

namespace tmeter::core {

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
  if (exists && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    fail("cannot be written");
  }
  if ((exists && !S_ISREG(info.st_mode)) || path.starts_with("/dev/")) {
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

void OutputFile::open_temporary() {
  temporary_ = path_ + ".XXXXXX";
  fd_ = mkostemp(temporary_.data(), O_CLOEXEC);
  if (fd_ < 0) {
    temporary_.clear();
    fail("cannot be written");
  }
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(fd_, 0666 & ~mask);
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
  }
}

void OutputFile::commit() {
  if (!temporary_.empty() && fsync(fd_) != 0) fail("cannot be written completely");
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
