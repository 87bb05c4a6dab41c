#include "core/base/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::kModel, printable(path) + ": " + why);
}

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) {
    refuse(path, errno == ENOENT ? "no such file"
                                 : std::string("cannot be opened: ") + std::strerror(errno));
  }
  struct stat info {};
  if (fstat(file.fd, &info) != 0) refuse(path, std::strerror(errno));
  if (S_ISDIR(info.st_mode)) refuse(path, "is a directory; give the model file inside it");
  if (!S_ISREG(info.st_mode)) refuse(path, "is not a regular file; save the model to disk first");
  if (info.st_size == 0) refuse(path, "is empty (0 bytes); was it saved or downloaded completely?");
  size_ = static_cast<size_t>(info.st_size);
  void* p = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (p == MAP_FAILED) refuse(path, std::string("cannot be mapped: ") + std::strerror(errno));
  data_ = static_cast<const char*>(p);
}

MappedFile::~MappedFile() { munmap(const_cast<char*>(data_), size_); }

}  // namespace tmeter::core
