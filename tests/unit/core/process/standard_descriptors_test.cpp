#include "core/process/standard_descriptors.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "tests/support/fail_call.hpp"
#include "tests/support/in_child.hpp"

namespace tmeter::core {
namespace {

bool is_of_no_use(int fd) {
  char byte = 0;
  if (fcntl(fd, F_GETFD) < 0) return false;
  return read(fd, &byte, 1) < 0 && errno == EBADF && write(fd, &byte, 1) < 0 && errno == EBADF;
}

TEST(StandardDescriptors, FreeDescriptorsAreOccupiedAndOthersStay) {
  for (unsigned closed = 0; closed < 8; ++closed) {
    const auto done = testing::in_child([&] {
      struct stat before[3]{}, after{};
      for (int fd = 0; fd < 3; ++fd) {
        if (closed >> fd & 1) close(fd);
        fstat(fd, &before[fd]);
      }
      occupy_standard_descriptors();
      for (int fd = 0; fd < 3; ++fd) {
        const bool same = fstat(fd, &after) == 0 && after.st_ino == before[fd].st_ino;
        if (closed >> fd & 1 ? !is_of_no_use(fd) : !same) return 10 + fd;
      }
      return open("/", O_PATH) > 2 ? 0 : 1;
    });
    EXPECT_EQ(done.status(), 0) << closed;
  }
}

TEST(StandardDescriptors, DescriptorsStayFreeIfNoneCanBeOpened) {
  const auto done = testing::in_child([] {
    close(STDIN_FILENO);
    testing::fail_call(SYS_openat, EMFILE);
    occupy_standard_descriptors();
    return fcntl(STDIN_FILENO, F_GETFD) < 0 ? 0 : 1;
  });
  EXPECT_EQ(done.status(), 0);
}

}  // namespace
}  // namespace tmeter::core
