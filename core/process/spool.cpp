#include "core/process/spool.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/base/error.hpp"
#include "core/base/output_file.hpp"

namespace tmeter::core {
namespace {

constexpr size_t kMaxInMemory = size_t{8} << 20, kPiece = size_t{64} << 10;

[[noreturn]] void fail() {
  throw Error(write_failure(errno), std::string("the report cannot be kept in a temporary file: ") +
                                        std::strerror(errno));
}

Descriptor nameless_file_in(const std::string& folder) {
  const int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return Descriptor(fd);
  auto name = folder + "/tmeter-XXXXXX";
  Descriptor named(mkostemp(name.data(), O_CLOEXEC));
  if (named.get() >= 0) unlink(name.c_str());
  return named;
}

}  // namespace

Descriptor nameless_file() {
  const char* tmpdir = std::getenv("TMPDIR");
  if (tmpdir && *tmpdir == '/') {
    auto file = nameless_file_in(tmpdir);
    if (file.get() >= 0) return file;
  }
  auto file = nameless_file_in("/tmp");
  return file.get() >= 0 ? std::move(file) : nameless_file_in("/var/tmp");
}

void Spool::write(std::string_view bytes) {
  const bool in_file = file_.get() >= 0;
  if (!in_file && memory_.size() + bytes.size() > kMaxInMemory) move_to_file();
  if (file_.get() >= 0) {
    append(bytes);
  } else {
    memory_ += bytes;
  }
  size_ += bytes.size();
}

void Spool::move_to_file() {
  file_ = nameless_file();
  if (file_.get() < 0) fail();
  append(memory_);
  memory_ = {};
}

void Spool::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail();
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

std::string Spool::read() {
  const auto size = static_cast<size_t>(std::min<uint64_t>(kPiece, size_ - read_));
  std::string piece;
  if (file_.get() < 0) {
    piece = memory_.substr(static_cast<size_t>(read_), size);
  } else if (size > 0) {
    piece.resize(size);
    ssize_t n = 0;
    do {
      n = pread(file_.get(), piece.data(), size, static_cast<off_t>(read_));
    } while (n < 0 && errno == EINTR);
    if (n <= 0) fail();
    piece.resize(static_cast<size_t>(n));
  }
  read_ += piece.size();
  return piece;
}

void Spool::clear() { *this = Spool(); }

}  // namespace tmeter::core
