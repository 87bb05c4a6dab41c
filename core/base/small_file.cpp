#include "core/base/small_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/descriptor.hpp"
#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

/// Reads to the end, or one byte more than `most`. The size is not trusted: files in /proc have
/// size 0, and a file may grow.
bool read_whole(int file, size_t most, std::string& text) {
  constexpr size_t kPiece = 64 << 10;
  while (text.size() <= most) {
    const auto before = text.size();
    const auto requested = std::min(kPiece, most + 1 - before);
    text.resize(before + requested);
    const auto got = read(file, text.data() + before, requested);
    text.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
  }
  return true;
}

}  // namespace

std::string read_small_file(ErrorKind kind, const std::string& path, size_t most) {
  const auto refuse = [&](const std::string& why) {
    throw Error(kind, printable(path) + ": " + why);
  };
  const auto because = [] { return std::string(": ") + std::strerror(errno); };
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) refuse("cannot be read" + because());
  struct stat info {};
  if (fstat(file.get(), &info) != 0) refuse("cannot be read" + because());
  if (S_ISDIR(info.st_mode)) refuse("is a folder; a file is expected");
  if (!S_ISREG(info.st_mode)) refuse("is not a regular file");
  std::string text;
  if (!read_whole(file.get(), most, text)) refuse("cannot be read" + because());
  if (text.size() > most)
    refuse("is longer than " + std::to_string(most >> 10) + " KiB, the limit");
  return text;
}

}  // namespace tmeter::core
