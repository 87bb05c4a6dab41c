#include "core/base/output_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "tests/support/answer_call.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/fail_call.hpp"
#include "tests/support/in_child.hpp"

namespace tmeter::core {
namespace {
namespace fs = std::filesystem;

std::string content(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(OutputFile, AppearsOnlyWhenCommitted) {
  const auto name = std::to_string(getpid()) + "report.json", path = ::testing::TempDir() + name;
  std::ofstream(path) << "old";
  {
    OutputFile f(path);
    f.write("half of the new");
  }
  EXPECT_EQ(content(path), "old");
  {
    OutputFile f(path);
    f.write("new");
    f.commit();
  }
  EXPECT_EQ(content(path), "new");
  for (const auto& e : fs::directory_iterator(::testing::TempDir())) {
    EXPECT_EQ(e.path().string().find(name + "."), std::string::npos) << "left behind: " << e.path();
  }
}

TEST(OutputFile, UnwritablePlacesAreNamed) {
  testing::expect_error(ErrorKind::kUsage, {"/nonexistent/x.json", "No such file"},
                        [] { OutputFile f("/nonexistent/x.json"); });
  testing::expect_error(ErrorKind::kUsage, {"directory"},
                        [] { OutputFile f(::testing::TempDir()); });
}

/// A temporary folder and its contents.
class Folder {
 public:
  Folder() : path_(fs::path(::testing::TempDir()) / ("output-" + std::to_string(getpid()))) {
    fs::create_directory(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string file(const char* name) const { return path_ / name; }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(path_), {}));
  }

 private:
  fs::path path_;
};

size_t open_files() {
  return static_cast<size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), {}));
}

/// The open file descriptor of a path with this prefix.
int descriptor_of(const std::string& path) {
  for (const auto& e : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (fs::read_symlink(e.path(), gone).string().starts_with(path))
      return std::stoi(e.path().filename());
  }
  return -1;
}

TEST(OutputFile, FailuresOfTheFileSystemAreNotUsageErrors) {
  for (const auto e : {ENOSPC, EDQUOT, EFBIG, EIO})
    EXPECT_EQ(write_failure(e), ErrorKind::kModel) << std::strerror(e);
  for (const auto e : {ENOENT, EACCES, EISDIR, EROFS})
    EXPECT_EQ(write_failure(e), ErrorKind::kUsage) << std::strerror(e);
}

TEST(OutputFile, NewFileHasThePermissionsOfTheUmask) {
  const Folder folder;
  const auto before = umask(027);
  {
    OutputFile f(folder.file("a"));
    f.commit();
  }
  EXPECT_EQ(umask(before), 027u);  // the mask is unchanged
  EXPECT_EQ(fs::status(folder.file("a")).permissions(), static_cast<fs::perms>(0640));
}

TEST(OutputFile, WithoutCommitNoFileIsLeftOrOpen) {
  const Folder folder;
  const auto before = open_files();
  {
    OutputFile f(folder.file("a"));
    f.write("half");
    EXPECT_EQ(open_files(), before + 1);
    EXPECT_GE(descriptor_of(folder.file("")), 0);  // in the target folder, so it only needs a name
    EXPECT_LE(folder.files(), 1u);                 // no name where unnamed files are supported
  }
  EXPECT_EQ(folder.files(), 0u);
  EXPECT_EQ(open_files(), before);
  OutputFile f(folder.file("a"));
  f.write("all");
  f.commit();
  EXPECT_EQ(open_files(), before);
  EXPECT_EQ(folder.files(), 1u);
}

TEST(OutputFile, OtherDescriptorsStayOpen) {
  const Folder folder;
  const auto done = testing::in_child([&] {
    const int input = open("/dev/null", O_RDONLY);
    if (dup2(input, STDIN_FILENO) != STDIN_FILENO) return 1;
    {
      OutputFile f(folder.file("a"));
      f.commit();
    }
    return fcntl(STDIN_FILENO, F_GETFD) == -1 ? 2 : 0;
  });
  EXPECT_EQ(done.status(), 0);
}

TEST(OutputFile, StartedProgramsDoNotInheritTheDescriptor) {
  const Folder folder;
  OutputFile f(folder.file("a"));
  EXPECT_EQ(fcntl(descriptor_of(folder.file("")), F_GETFD), FD_CLOEXEC);
}

/// Limits a file to this many bytes; further writing fails with EFBIG.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }

 private:
  sighandler_t handler_;
  rlimit before_{};
};

TEST(OutputFile, APartialWriteIsContinued) {
  const Folder folder;
  testing::expect_error(ErrorKind::kModel, {"cannot be written completely: File too large"}, [&] {
    OutputFile f(folder.file("a"));
    const SizeLimit limit(600);
    f.write(std::string(1000, 'x'));  // 600 bytes are written, then writing fails
  });
  EXPECT_EQ(folder.files(), 0u);
}

TEST(OutputFile, ATargetThatBecameAFolderIsAnErrorAndNoFileIsLeft) {
  const Folder folder;
  testing::expect_error(ErrorKind::kUsage,
                        {"report file " + folder.file("a") + " cannot be written: Is a directory"},
                        [&] {
                          OutputFile f(folder.file("a"));
                          fs::create_directory(folder.file("a"));
                          f.commit();
                        });
  EXPECT_EQ(folder.files(), 1u);  // the folder
}

TEST(OutputFile, AFileInSharedMemoryIsWrittenAndReplaced) {
  const std::string path = "/dev/shm/tmeter-test-" + std::to_string(getpid());
  if (access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "/dev/shm is missing";
  for (const char* text : {"new", "replaced"}) {
    OutputFile file(path);
    file.write(text);
    file.commit();
    EXPECT_EQ(content(path), text);
  }
  fs::remove(path);
}

TEST(OutputFile, ALongReportIsWrittenWhole) {
  const auto path = ::testing::TempDir() + std::to_string(getpid()) + "long.json";
  std::string text(3 << 20, 'x');  // more than the room that is left
  std::string all;
  OutputFile f(path);
  for (char c = 'a'; c < 'h'; ++c) {
    text[0] = c;
    f.write(text);
    all += text;
  }
  f.commit();
  EXPECT_EQ(content(path), all);
  fs::remove(path);
}

TEST(OutputFile, ALinkStaysALink) {
  const auto target = ::testing::TempDir() + "target-" + std::to_string(getpid());
  const auto link = target + ".link";
  std::ofstream(target) << "old";
  fs::create_symlink(target, link);
  OutputFile f(link);
  f.write("new");
  f.commit();
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content(target), "new");
  fs::remove(link);
  fs::remove(target);
}

TEST(OutputFile, ADanglingLinkCreatesItsTarget) {
  const Folder folder;
  fs::create_directory(folder.file("far"));
  fs::create_symlink("far/link", folder.file("a"));
  fs::create_symlink("target", folder.file("far/link"));
  OutputFile f(folder.file("a"));
  f.write("new");
  f.commit();
  EXPECT_TRUE(fs::is_symlink(folder.file("a")));
  EXPECT_TRUE(fs::is_symlink(folder.file("far/link")));
  EXPECT_EQ(content(folder.file("far/target")), "new");
  EXPECT_EQ(folder.files(), 2u);
}

mode_t mode_of(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

TEST(OutputFile, AFileThatIsReplacedKeepsItsModeAndOwner) {
  for (const bool named : {false, true}) {
    const Folder folder;
    const auto path = folder.file("a");
    std::ofstream(path) << "old";
    const bool root = geteuid() == 0;
    EXPECT_EQ(root ? chown(path.c_str(), 12345, 23456) : 0, 0);
    for (const mode_t mode : {0600, 0664, 0444, 04751}) {
      ASSERT_EQ(chmod(path.c_str(), mode), 0);
      const auto done = testing::in_child([&] {
        if (named) testing::fail_call(SYS_openat, EOPNOTSUPP, O_TMPFILE);
        OutputFile f(path);
        f.write("new");
        f.commit();
        return 0;
      });
      EXPECT_EQ(done.status(), 0) << done.out;
      EXPECT_EQ(mode_of(path), mode);
    }
    struct stat info {};
    EXPECT_EQ(stat(path.c_str(), &info), 0);
    if (root) {
      EXPECT_EQ(info.st_uid, 12345u);
      EXPECT_EQ(info.st_gid, 23456u);
    }
    EXPECT_EQ(content(path), "new");
  }
}

TEST(OutputFile, SetuidAndGroupRightsAreDroppedIfTheOwnerCannotBeKept) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const Folder folder;
  const auto path = folder.file("a");
  std::ofstream(path) << "old";
  ASSERT_EQ(chown(path.c_str(), 12345, 23456), 0);
  ASSERT_EQ(chmod(path.c_str(), 06775), 0);
  const auto done = testing::in_child([&] {
    testing::fail_call(SYS_fchown, EPERM);
    OutputFile f(path);
    f.write("new");
    f.commit();
    return 0;
  });
  EXPECT_EQ(done.status(), 0) << done.out;
  EXPECT_EQ(mode_of(path), 0705u);
}

/// Some file systems refuse every change of an owner.
TEST(OutputFile, ReplacingAnOwnFileNeedsNoChangeOfItsOwner) {
  const Folder folder;
  const auto path = folder.file("a");
  std::ofstream(path) << "old";
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  const auto done = testing::in_child([&] {
    testing::fail_call(SYS_fchown, EPERM);
    OutputFile f(path);
    f.write("new");
    f.commit();
    return 0;
  });
  EXPECT_EQ(done.status(), 0) << done.out;
  EXPECT_EQ(mode_of(path), 0666u);
  EXPECT_EQ(content(path), "new");
}

struct Owner {
  uint64_t user, group;
  bool operator==(const Owner&) const = default;
};
constexpr Owner kOther{12345, 23456};

/// `stat`, but a file that is named rather than open belongs to another user.
long stat_of_others(const testing::CallArguments& a) {
  struct statx of {};
  if (syscall(SYS_statx, a[0], a[1], a[3], STATX_BASIC_STATS, &of) != 0) return -errno;
  const bool named = (a[3] & AT_SYMLINK_NOFOLLOW) != 0;
  auto& out = *reinterpret_cast<struct stat*>(a[2]);
  out = {};
  out.st_mode = of.stx_mode;
  out.st_uid = named ? static_cast<uid_t>(kOther.user) : of.stx_uid;
  out.st_gid = named ? static_cast<gid_t>(kOther.group) : of.stx_gid;
  return 0;
}

/// With room for a test: the handler of the answered call is a signal handler, which may not
/// allocate.
template <typename T>
std::vector<T> with_room() {
  std::vector<T> out;
  out.reserve(8);
  return out;
}

std::vector<Owner>& requested_owners() {
  static auto owners = with_room<Owner>();
  return owners;
}
constexpr Owner kGroupAlone{static_cast<uid_t>(-1), kOther.group};

TEST(OutputFile, AnotherUsersFileKeepsItsOwnerAsFarAsPermitted) {
  struct Case {
    testing::CallAnswer fchown;
    std::vector<Owner> owners;
    mode_t mode;
  };
  const Case cases[] = {{[](const testing::CallArguments& a) {
                           requested_owners().push_back({static_cast<uid_t>(a[1]), a[2]});
                           return 0L;
                         },
                         {kOther},
                         04775},
                        {[](const testing::CallArguments& a) {
                           requested_owners().push_back({static_cast<uid_t>(a[1]), a[2]});
                           return a[1] == kOther.user ? long{-EPERM} : 0L;
                         },
                         {kOther, kGroupAlone},
                         0775},
                        {[](const testing::CallArguments& a) {
                           requested_owners().push_back({static_cast<uid_t>(a[1]), a[2]});
                           return long{-EPERM};
                         },
                         {kOther, kGroupAlone},
                         0705}};
  for (const auto& c : cases) {
    const Folder folder;
    const auto path = folder.file("a");
    std::ofstream(path) << "old";
    ASSERT_EQ(chmod(path.c_str(), 04775), 0);
    const auto done = testing::in_child([&] {
      OutputFile f(path);
      f.write("new");
      requested_owners().clear();
      testing::answer_call(SYS_newfstatat, stat_of_others);
      testing::answer_call(SYS_fchown, c.fchown);
      f.commit();
      EXPECT_EQ(requested_owners(), c.owners);
      return ::testing::Test::HasFailure() ? 1 : 0;
    });
    EXPECT_EQ(done.status(), 0) << done.out;
    EXPECT_EQ(mode_of(path), c.mode);
    EXPECT_EQ(content(path), "new");
  }
}

using Range = std::pair<uint64_t, uint64_t>;  // offset, bytes
std::vector<Range>& ranges_pushed() {
  static auto ranges = with_room<Range>();
  return ranges;
}

/// So that the wait at the end is short.
TEST(OutputFile, EachMiBGoesToTheDiskWhileTheRestIsWritten) {
  const Folder folder;
  const auto done = testing::in_child([&] {
    ranges_pushed().clear();
    testing::answer_call(SYS_sync_file_range, [](const testing::CallArguments& a) {
      ranges_pushed().push_back({a[1], a[2]});
      return 0L;
    });
    constexpr uint64_t kPiece = 700 << 10, kMiB = 1 << 20;
    OutputFile f(folder.file("a"));
    for (int i = 0; i < 5; ++i) f.write(std::string(kPiece, 'x'));
    EXPECT_EQ(ranges_pushed(), (std::vector<Range>{{0, 2 * kPiece}, {2 * kPiece, 2 * kPiece}}));
    ranges_pushed().clear();
    f.begin_again();
    f.write(std::string(kMiB, 'y'));
    f.write("end");
    EXPECT_EQ(ranges_pushed(), (std::vector<Range>{{0, kMiB}}));
    f.commit();
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(done.status(), 0) << done.out;
}

TEST(OutputFile, OnlyTheOwnerMayReadAnUnfinishedFile) {
  const Folder folder;
  testing::expect_in_child([&] {
    testing::fail_call(SYS_openat, EOPNOTSUPP, O_TMPFILE);
    OutputFile f(folder.file("a"));
    f.write("secret");
    for (const auto& e : fs::directory_iterator(folder.file(".")))
      EXPECT_EQ(mode_of(e.path()), 0600u);
  });
}

TEST(OutputFile, ASecondAttemptDiscardsTheFirst) {
  const Folder folder;
  OutputFile f(folder.file("a"));
  f.write("much more of the first");
  f.begin_again();
  f.write("second");
  f.commit();
  EXPECT_EQ(content(folder.file("a")), "second");
}

TEST(OutputFile, DescriptorZeroIsUsable) {
  for (const bool named : {false, true}) {
    const Folder folder;
    const auto done = testing::in_child([&] {
      if (named) testing::fail_call(SYS_openat, EOPNOTSUPP, O_TMPFILE);
      close(STDIN_FILENO);
      { OutputFile f(folder.file("never")); }
      if (fcntl(STDIN_FILENO, F_GETFD) != -1) return 1;  // it is closed
      OutputFile f(folder.file("a"));
      f.write("all");
      f.commit();
      return 0;
    });
    EXPECT_EQ(done.status(), 0) << done.out;
    EXPECT_EQ(content(folder.file("a")), "all");
    EXPECT_EQ(folder.files(), 1u);
  }
}

TEST(OutputFile, APathWithoutAFolderIsInTheCurrentOne) {
  const Folder folder;
  const auto done = testing::in_child([&] {
    if (chdir(folder.file("").c_str()) != 0) return 1;
    OutputFile f("report");
    f.write("here");
    f.commit();
    return 0;
  });
  EXPECT_EQ(done.status(), 0);
  EXPECT_EQ(content(folder.file("report")), "here");
  EXPECT_EQ(folder.files(), 1u);
}

TEST(OutputFile, FilesWithTakenTemporaryNamesAreKept) {
  const Folder folder;
  const auto path = folder.file("a");
  const auto taken = [&](int i) {
    return path + "." + std::to_string(getpid()) + "-" + std::to_string(i);
  };
  std::ofstream(path) << "old";
  for (const int i : {0, 1}) std::ofstream(taken(i)) << "other";
  OutputFile f(path);
  f.write("new");
  f.commit();
  EXPECT_EQ(content(path), "new");
  for (const int i : {0, 1}) EXPECT_EQ(content(taken(i)), "other");
  EXPECT_EQ(folder.files(), 3u);
}

TEST(OutputFile, ATemporaryNameGivesTheSameFile) {
  const Folder folder;
  const auto path = folder.file("a");
  testing::expect_in_child([&] {
    testing::fail_call(SYS_openat, EOPNOTSUPP, O_TMPFILE);
    umask(027);
    const auto before = open_files();
    {
      OutputFile f(path);
      f.write("half");
      EXPECT_EQ(folder.files(), 1u);
      EXPECT_EQ(fcntl(descriptor_of(path), F_GETFD), FD_CLOEXEC);
    }
    EXPECT_EQ(folder.files(), 0u);
    OutputFile f(path);
    f.write("all");
    f.commit();
    EXPECT_EQ(open_files(), before);
    EXPECT_EQ(umask(0), 027u);
    testing::expect_error(
        ErrorKind::kUsage,
        {"report file /nonexistent/x.json cannot be written: No such file or directory"},
        [] { OutputFile("/nonexistent/x.json"); });
  });
  EXPECT_EQ(content(path), "all");
  EXPECT_EQ(fs::status(path).permissions(), static_cast<fs::perms>(0640));
  EXPECT_EQ(folder.files(), 1u);
}

TEST(OutputFile, FailuresOfCommitAreReportedAndNoFileIsLeft) {
  struct Case {
    long call;
    int error;
    const char* words;
  };
  for (const auto& c : {Case{SYS_fsync, EIO, "cannot be written completely: Input/output error"},
                        {SYS_close, ENOSPC, "cannot be written completely: No space left"},
                        {SYS_linkat, EPERM, "cannot be written: Operation not permitted"}}) {
    const Folder folder;
    const auto done = testing::in_child([&] {
      OutputFile f(folder.file("a"));
      f.write("all");
      testing::fail_call(c.call, c.error);
      testing::expect_error(write_failure(c.error), {"report file " + folder.file("a"), c.words},
                            [&] { f.commit(); });
      return ::testing::Test::HasFailure() ? 1 : 0;
    });
    EXPECT_EQ(done.status(), 0) << done.out;
    EXPECT_EQ(folder.files(), c.call == SYS_close ? 1u : 0u);
  }
}

}  // namespace
}  // namespace tmeter::core
