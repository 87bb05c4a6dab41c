// The abilities of a process inside the sandbox, tried in processes of their own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/landlock.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/process/landlock.hpp"
#include "tests/support/answer_call.hpp"
#include "tests/support/fail_call.hpp"
#include "tests/support/in_child.hpp"

namespace tmeter::core {
namespace {
namespace fs = std::filesystem;
using ::tmeter::testing::in_child;

TEST(Sandbox, RightsAreAddedByName) {
  Rights r;
  EXPECT_TRUE(add_rights(r, ""));
  EXPECT_FALSE(r.network || r.write || r.processes);
  EXPECT_TRUE(add_rights(r, "network"));
  EXPECT_TRUE(r.network && !r.write && !r.processes);
  EXPECT_TRUE(add_rights(r, " files  processes "));
  EXPECT_TRUE(r.network && r.write && r.processes);
  for (const auto* unknown : {"everything", "files,network", "Files", "file", "signals"}) {
    EXPECT_FALSE(add_rights(r, unknown)) << unknown;
  }
  Rights both;
  EXPECT_TRUE(add_rights(both, "network processes"));
  EXPECT_TRUE(both.network && both.processes && !both.write);
  EXPECT_TRUE(add_rights(r, "threads") && r.threads && !both.threads);
  Rights files;
  EXPECT_TRUE(add_rights(files, "files"));
  EXPECT_TRUE(files.write && !files.network && !files.processes);
}

// --- system calls -------------------------------------------------------------------------------

/// Loads the filter as `enter_sandbox` does: only root may load it without PR_SET_NO_NEW_PRIVS.
std::string filtered(const Rights& rights) {
  EXPECT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  return limit_system_calls(rights);
}

/// The call's errno once the filter is loaded; 0 on success.
int error_of(const std::function<long()>& call, const Rights& rights = {}) {
  return in_child([&] {
           filtered(rights);
           return call() < 0 ? errno : 0;
         })
      .status();
}

Rights with(const char* names) {
  Rights r;
  EXPECT_TRUE(add_rights(r, names));
  return r;
}

/// Calls with arguments that every kernel refuses: a permitted call fails in some other way.
std::string unknown_of(const std::vector<long>& calls, const Rights& rights = {}) {
  return in_child([&] {
           filtered(rights);
           for (const auto call : calls) {
             if (syscall(call, -1, -1, -1, -1, -1, -1) != -1 || errno != ENOSYS) continue;
             const auto word = std::to_string(call) + " ";
             if (write(STDOUT_FILENO, word.data(), word.size()) < 0) return 1;
           }
           return 0;
         })
      .out;
}

std::string words(const std::vector<long>& calls) {
  std::string out;
  for (const auto call : calls) out += std::to_string(call) + " ";
  return out;
}

// Grouped by purpose. `execve` and the like get no path that could be executed.
const std::vector<long> kProcesses{SYS_execve, SYS_execveat, SYS_wait4, SYS_setpgid};
const std::vector<long> kNetwork{SYS_connect, SYS_bind, SYS_sendto, SYS_recvfrom, SYS_epoll_ctl};
const std::vector<long> kFileFacts{SYS_chmod,  SYS_fchmod,    SYS_fchmodat,    SYS_chown,
                                   SYS_fchown, SYS_lchown,    SYS_fchownat,    SYS_utime,
                                   SYS_utimes, SYS_utimensat, SYS_memfd_create};
const std::vector<long> kFiles{SYS_creat,     SYS_unlink,    SYS_unlinkat,  SYS_rename,
                               SYS_renameat,  SYS_renameat2, SYS_mkdir,     SYS_mkdirat,
                               SYS_rmdir,     SYS_link,      SYS_linkat,    SYS_symlink,
                               SYS_symlinkat, SYS_truncate,  SYS_ftruncate, SYS_fallocate};
// Forbidden under any declaration. fchmodat2, setxattrat, removexattrat and file_setattr are newer
// than Debian 12's headers.
constexpr long kFchmodat2 = 452, kSetxattrat = 463, kRemovexattrat = 466, kFileSetattr = 469;
const std::vector<long> kNever{SYS_ptrace,
                               SYS_process_vm_readv,
                               SYS_process_vm_writev,
                               SYS_process_madvise,
                               SYS_pidfd_getfd,
                               SYS_tkill,
                               SYS_rt_sigqueueinfo,
                               SYS_pidfd_send_signal,
                               SYS_setns,
                               SYS_unshare,
                               SYS_keyctl,
                               SYS_add_key,
                               SYS_request_key,
                               SYS_bpf,
                               SYS_userfaultfd,
                               SYS_io_uring_setup,
                               SYS_personality,
                               SYS_open_by_handle_at,
                               SYS_mknod,
                               SYS_mknodat,
                               SYS_setxattr,
                               SYS_lsetxattr,
                               SYS_fsetxattr,
                               SYS_removexattr,
                               SYS_lremovexattr,
                               SYS_fremovexattr,
                               SYS_openat2,
                               SYS_clone3,
                               SYS_shmget,
                               SYS_shmat,
                               SYS_msgget,
                               SYS_semget,
                               SYS_mq_open,
                               SYS_setsid,
                               SYS_setuid,
                               SYS_capset,
                               kFchmodat2,
                               kSetxattrat,
                               kRemovexattrat,
                               kFileSetattr};

TEST(Seccomp, UnlistedCallsAreUnknown) {
  for (const auto& calls : {kProcesses, kNetwork, kFileFacts, kFiles, kNever})
    EXPECT_EQ(unknown_of(calls), words(calls));
  EXPECT_EQ(unknown_of({SYS_perf_event_open, SYS_sched_setaffinity, SYS_mbind}),
            words({SYS_perf_event_open, SYS_sched_setaffinity, SYS_mbind}));
}

TEST(Seccomp, RightsAddToTheListByName) {
  EXPECT_EQ(unknown_of(kProcesses, with("processes")), "");
  EXPECT_EQ(unknown_of(kNetwork, with("network")), "");
  for (const auto& calls : {kFiles, kFileFacts}) EXPECT_EQ(unknown_of(calls, with("files")), "");
  EXPECT_EQ(unknown_of({SYS_sched_setaffinity}, with("threads")), "");
  Rights profile;
  profile.counters = profile.inference = true;
  EXPECT_EQ(unknown_of({SYS_perf_event_open, SYS_sched_setaffinity, SYS_mbind}, profile), "");
  const auto all = with("network files processes threads");
  EXPECT_EQ(unknown_of(kNever, all), words(kNever));
  for (const auto* right : {"network", "processes", "files", "threads"}) {
    const std::string name = right;
    EXPECT_EQ(unknown_of(kNetwork, with(right)), name == "network" ? "" : words(kNetwork)) << name;
    EXPECT_EQ(unknown_of(kProcesses, with(right)), name == "processes" ? "" : words(kProcesses));
    EXPECT_EQ(unknown_of(kFiles, with(right)), name == "files" ? "" : words(kFiles)) << name;
  }
}

TEST(Seccomp, OtherTablesOfCallsAreUnknown) {
#ifdef __x86_64__
  constexpr long kX32 = 0x4000'0000;
  EXPECT_EQ(error_of([] { return syscall(kX32 | SYS_getpid); }), ENOSYS);
  EXPECT_EQ(error_of([] {
              long result = 20;  // getpid of 32-bit programs
              asm volatile("int $0x80" : "+a"(result) : : "memory");
              errno = static_cast<int>(-result);
              return result < 0 ? -1L : 0L;
            }),
            ENOSYS);
#endif
}

TEST(Seccomp, ListsItsRestrictions) {
  EXPECT_EQ(in_child([] {
              const auto message = filtered({}) + "\n";
              return write(STDOUT_FILENO, message.data(), message.size()) > 0 ? 0 : 1;
            }).out,
            "no network, no other programs or processes, no writing of files, no change of the "
            "system (seccomp)\n");
  EXPECT_EQ(in_child([] {
              Rights r;
              r.network = true;
              const auto message = filtered(r) + "\n";
              return write(STDOUT_FILENO, message.data(), message.size()) > 0 ? 0 : 1;
            }).out,
            "no other programs or processes, no writing of files, no change of the system "
            "(seccomp)\n");
}

TEST(Seccomp, FilesCanBeOpenedForReadingAlone) {
  const std::string path = ::testing::TempDir() + "seccomp-" + std::to_string(getpid());
  std::ofstream(path) << "as it was";
  const auto opened = [&](int flags, const Rights& rights = {}) {
    const auto* p = path.c_str();
    const auto old = error_of([=] { return syscall(SYS_open, p, flags, 0600); }, rights);
    EXPECT_EQ(error_of([=] { return syscall(SYS_openat, AT_FDCWD, p, flags, 0600); }, rights), old);
    return old;
  };
  EXPECT_EQ(opened(O_RDONLY), 0);
  EXPECT_EQ(opened(O_RDONLY | O_CLOEXEC | O_NOFOLLOW), 0);
  EXPECT_EQ(opened(O_RDONLY | O_DIRECTORY), ENOTDIR);
  for (const int flags : {O_WRONLY, O_RDWR, O_WRONLY | O_APPEND, O_RDWR | O_CLOEXEC})
    EXPECT_EQ(opened(flags), EACCES) << flags;
  for (const int flags : {O_RDONLY | O_CREAT, O_RDONLY | O_TRUNC, O_RDONLY | O_CREAT | O_EXCL})
    EXPECT_EQ(opened(flags), EACCES) << flags;
  EXPECT_EQ(fs::file_size(path), 9u);
  Rights devices;
  devices.devices = {"/dev/nvidia0"};
  EXPECT_EQ(opened(O_RDWR, devices), 0);
  EXPECT_EQ(opened(O_RDWR | O_CREAT, devices), EACCES);
  EXPECT_EQ(opened(O_WRONLY, with("files")), 0);
  fs::remove(path);
}

TEST(Seccomp, ThreadsCanBeStartedProcessesCannot) {
  EXPECT_EQ(error_of([] {
              std::thread([] {}).join();
              return 0;
            }),
            0);
  const auto clone = [](long flags) {
    return [=] { return syscall(SYS_clone, flags, 0, 0, 0, 0); };
  };
  EXPECT_EQ(error_of(clone(SIGCHLD)), ENOSYS);
  EXPECT_EQ(error_of(clone(CLONE_VM | CLONE_VFORK | SIGCHLD)), ENOSYS);
  EXPECT_EQ(error_of(clone(CLONE_VM | CLONE_THREAD | CLONE_SIGHAND | CLONE_NEWUSER)), ENOSYS);
  EXPECT_EQ(error_of(clone(CLONE_VM | CLONE_THREAD)), EINVAL);  // the kernel's own errno
  EXPECT_EQ(error_of(clone(CLONE_NEWUSER | SIGCHLD), with("processes")), ENOSYS);
  EXPECT_EQ(error_of([] { return fork() == 0 ? (_exit(0), 0) : 0; }, with("processes")), 0);
}

TEST(Seccomp, AProcessMaySignalAndInspectItselfNotOthers) {
  EXPECT_EQ(error_of([] { return kill(getpid(), 0); }), 0);
  EXPECT_EQ(error_of([] { return syscall(SYS_tgkill, getpid(), gettid(), 0); }), 0);
  for (const pid_t other : {getppid(), 0, -1, -getpgrp()})
    EXPECT_EQ(error_of([=] { return kill(other, 0); }), ENOSYS) << other;
  EXPECT_EQ(error_of([] { return kill(getppid(), 0); }, with("processes")), 0);
  rlimit old{};
  EXPECT_EQ(error_of([&] { return prlimit(0, RLIMIT_CORE, nullptr, &old); }), 0);
  EXPECT_EQ(error_of([&] { return prlimit(0, RLIMIT_CORE, &old, nullptr); }), ENOSYS);
  EXPECT_EQ(error_of([&] { return prlimit(getppid(), RLIMIT_CORE, nullptr, &old); }), ENOSYS);
}

TEST(Seccomp, ArgumentsAreChecked) {
  const int null = open("/dev/null", O_RDONLY);
  const auto control = [=](unsigned long command) {
    return [=] { return static_cast<long>(ioctl(null, command, &command)); };
  };
  EXPECT_EQ(error_of(control(TCGETS)), ENOTTY);
  for (const unsigned long command :
       {TIOCSTI, TIOCSCTTY, TIOCLINUX, 0x40086602 /* FS_IOC_SETFLAGS */,
        0x401c5820 /* FS_IOC_FSSETXATTR */, FIOASYNC, FIOSETOWN})
    EXPECT_EQ(error_of(control(command)), ENOSYS) << command;
  // The kernel reads only 32 bits of the command.
  EXPECT_EQ(error_of([=] { return syscall(SYS_ioctl, null, 0x1'0000'0000 | TIOCSTI, 0); }), ENOSYS);
  const auto descriptor = [=](int command, long value) {
    return [=] { return static_cast<long>(fcntl(null, command, value)); };
  };
  EXPECT_EQ(error_of(descriptor(F_GETFL, 0)), 0);
  EXPECT_EQ(error_of(descriptor(F_SETFL, O_NONBLOCK)), 0);
  EXPECT_EQ(error_of(descriptor(F_SETFL, O_ASYNC)), ENOSYS);
  for (const int command :
       {F_SETOWN, F_SETSIG, F_SETOWN_EX, F_NOTIFY, F_SETLEASE, F_SETPIPE_SZ, F_ADD_SEALS, F_SETLK})
    EXPECT_EQ(error_of(descriptor(command, 0)), ENOSYS) << command;
  EXPECT_EQ(error_of([] { return prctl(PR_SET_NAME, "x"); }), 0);
  for (const int option : {PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_MM, PR_SET_CHILD_SUBREAPER,
                           PR_SET_PTRACER, PR_SET_TIMING})
    EXPECT_EQ(error_of([=] { return prctl(option, 0, 0, 0, 0); }), ENOSYS) << option;
  const auto mapped = [](int protection, int flags) {
    return [=] { return mmap(nullptr, 4096, protection, flags, -1, 0) == MAP_FAILED ? -1L : 0L; };
  };
  const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
  EXPECT_EQ(error_of(mapped(PROT_READ | PROT_WRITE | PROT_EXEC, anonymous)), 0);
  EXPECT_EQ(error_of(mapped(PROT_READ, anonymous | MAP_HUGETLB)), ENOSYS);
  EXPECT_EQ(error_of(mapped(PROT_READ, anonymous | MAP_GROWSDOWN)), ENOSYS);
  const auto advised = [](int advice) {
    return [=] { return static_cast<long>(madvise(nullptr, 0, advice)); };
  };
  EXPECT_EQ(error_of(advised(MADV_DONTNEED)), 0);
  for (const int advice : {MADV_REMOVE, MADV_HWPOISON, MADV_MERGEABLE})
    EXPECT_EQ(error_of(advised(advice)), ENOSYS) << advice;
}

TEST(Seccomp, TheNetworkRightIsLimitedToTheInternet) {
  const auto opened = [](int domain, int type, int protocol = 0) {
    return error_of([=] { return socket(domain, type, protocol); }, with("network"));
  };
  EXPECT_EQ(opened(AF_INET, SOCK_STREAM | SOCK_CLOEXEC), 0);
  EXPECT_EQ(opened(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), 0);
  EXPECT_EQ(opened(AF_UNIX, SOCK_STREAM), ENOSYS);
  EXPECT_EQ(opened(AF_INET, SOCK_RAW, IPPROTO_ICMP), ENOSYS);
  EXPECT_EQ(opened(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT), ENOSYS);
  EXPECT_EQ(error_of([] { return socket(AF_INET, SOCK_STREAM, 0); }), ENOSYS);
}

// --- Landlock -----------------------------------------------------------------------------------

bool operator==(const Ruleset& a, const Ruleset& b) {
  return a.files == b.files && a.network == b.network && a.scoped == b.scoped;
}

// Rights to files by version, from the table in the kernel's documentation, "Previous limitations".
// Version 1 has 13; renaming across folders (2), truncating (3), device ioctl (5).
TEST(SandboxRules, EachVersionOfLandlockGetsAllItsRights) {
  const std::pair<int, uint64_t> files[] = {{1, 0x1fff}, {2, 0x3fff}, {3, 0x7fff}, {4, 0x7fff},
                                            {5, 0xffff}, {6, 0xffff}, {7, 0xffff}, {20, 0xffff}};
  for (const auto& [version, rights] : files) {
    const uint64_t tcp = version >= 4 ? 3 : 0, scoped = version >= 6 ? 3 : 0;
    EXPECT_TRUE(ruleset_of(version, {}) == (Ruleset{rights, tcp, scoped})) << version;
    EXPECT_EQ(ruleset_size(version), version >= 6 ? 24u : version >= 4 ? 16u : 8u);
  }
}

TEST(SandboxRules, DeclaredRightsAreLeftOut) {
  Rights network, processes, files;
  network.network = processes.processes = files.write = true;
  EXPECT_TRUE(ruleset_of(7, network) == (Ruleset{0xffff, 0, 2}));    // signals stay inside
  EXPECT_TRUE(ruleset_of(7, processes) == (Ruleset{0xfffe, 3, 1}));  // executing
  EXPECT_TRUE(ruleset_of(7, files) == (Ruleset{0, 3, 3}));
  network.processes = true;
  EXPECT_TRUE(ruleset_of(7, network) == (Ruleset{0xfffe, 0, 0}));
}

// --- files --------------------------------------------------------------------------------------

/// A folder with a readable file, a file in a subfolder, and a file that must stay unreadable.
class SandboxFiles : public ::testing::Test {
 protected:
  SandboxFiles() : folder_(::testing::TempDir() + "sandbox-" + std::to_string(getpid())) {
    fs::create_directories(folder_ / "open/below");
    for (const auto* name : {"open/a", "open/below/b", "alone", "secret"})
      std::ofstream(folder_ / name) << name;
  }
  ~SandboxFiles() override { fs::remove_all(folder_); }
  static void SetUpTestSuite() {
    if (syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) < 1)
      GTEST_SKIP() << "this kernel lacks Landlock";
  }

  std::string path(const char* name) const { return folder_ / name; }
  Rights rights() const {
    Rights r;
    r.read = {path("not-there"), path("open"), path("alone")};
    return r;
  }
  /// The outcome of `call` in the sandbox: 0, or its errno.
  int error(const Rights& r, const std::function<long()>& call) const {
    return in_child([&] {
             enter_sandbox(r);
             return call() < 0 ? errno : 0;
           })
        .status();
  }
  /// The same under Landlock alone, without the filter of system calls.
  static int held_by_landlock(const Rights& r, const std::function<long()>& call) {
    return in_child([&] {
             if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 200;
             limit_files(r);
             return call() < 0 ? errno : 0;
           })
        .status();
  }
  int opening(const Rights& r, const char* name, int flags = O_RDONLY) const {
    return error(r, [&] { return open(path(name).c_str(), flags, 0600); });
  }

 private:
  fs::path folder_;
};

TEST_F(SandboxFiles, OnlyListedFilesCanBeRead) {
  for (const auto* name : {"open/a", "open/below/b", "open", "alone"})
    EXPECT_EQ(opening(rights(), name), 0) << name;
  EXPECT_EQ(opening(rights(), "open", O_RDONLY | O_DIRECTORY), 0);
  for (const auto* name : {"secret", "."}) EXPECT_EQ(opening(rights(), name), EACCES) << name;
  EXPECT_EQ(opening({}, "open/a"), EACCES);
}

TEST_F(SandboxFiles, ReadableFilesCannotBeWritten) {
  for (const auto* name : {"open/a", "alone", "secret"}) {
    const auto cut = [&] { return truncate(path(name).c_str(), 1); };
    EXPECT_EQ(opening(rights(), name, O_WRONLY), EACCES) << name;
    EXPECT_EQ(held_by_landlock(rights(), cut), EACCES) << name;
    EXPECT_EQ(error(rights(), cut), ENOSYS) << name;
    EXPECT_NE(error(rights(), [&] { return unlink(path(name).c_str()); }), 0) << name;
  }
  EXPECT_EQ(opening(rights(), "open/new", O_RDONLY | O_CREAT), EACCES);
  const auto make = [&] { return mkdir(path("open/new").c_str(), 0700); };
  const auto move = [&] { return rename(path("alone").c_str(), path("open/c").c_str()); };
  for (const std::function<long()>& call : {std::function<long()>(make), {move}}) {
    EXPECT_EQ(held_by_landlock(rights(), call), EACCES);
    EXPECT_EQ(error(rights(), call), ENOSYS);
  }
}

TEST_F(SandboxFiles, OnlyDevicesAreReadAndWritten) {
  Rights r;
  r.devices = {path("alone"), path("open"), path("not-there")};
  const auto opened = [&](const char* name, int flags) {
    return held_by_landlock(r, [&] { return open(path(name).c_str(), flags, 0600); });
  };
  for (const auto* name : {"alone", "open/a", "open/below/b"}) EXPECT_EQ(opened(name, O_RDWR), 0);
  EXPECT_EQ(opened("open", O_RDONLY | O_DIRECTORY), 0);
  EXPECT_EQ(opened("secret", O_RDONLY), EACCES);
  EXPECT_EQ(opened("open/new", O_WRONLY | O_CREAT), EACCES);
  for (const auto* name : {"alone", "open/a"}) {
    EXPECT_EQ(held_by_landlock(r, [&] { return unlink(path(name).c_str()); }), EACCES) << name;
    EXPECT_EQ(held_by_landlock(r, [&] { return truncate(path(name).c_str(), 1); }), EACCES) << name;
  }
}

TEST_F(SandboxFiles, TheRightToWriteFilesIncludesReadingAllFiles) {
  auto r = rights();
  r.write = true;
  EXPECT_EQ(opening(r, "secret"), 0);
  EXPECT_EQ(opening(r, "open/new", O_WRONLY | O_CREAT), 0);
  EXPECT_EQ(error(r,
                  [&] {
                    const int fd = open(path("open/new").c_str(), O_WRONLY | O_APPEND);
                    return write(fd, "x", 1);
                  }),
            0);
}

TEST_F(SandboxFiles, ProgramsRunWhereProcessesAreDeclared) {
  auto r = rights();
  r.read = {"/"};
  const auto run = [] {
    execl("/bin/true", "true", nullptr);
    return -1L;
  };
  EXPECT_EQ(error(r, run), ENOSYS);
  r.processes = true;
  EXPECT_EQ(error(r, run), 0);
}

TEST_F(SandboxFiles, TcpAndAbstractSocketsNeedTheNetwork) {
  // Landlock alone, without the filter of system calls.
  const auto alone = [](const Rights& r, const std::function<long()>& call) {
    return in_child([&] {
             if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 200;
             const auto held = limit_files(r);
             if (held.landlock < 6) return 201;
             return call() < 0 ? errno : 0;
           })
        .status();
  };
  const auto bind_tcp = [] {
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in any{AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {}};
    return static_cast<long>(bind(s, reinterpret_cast<const sockaddr*>(&any), sizeof any));
  };
  const auto connect_tcp = [] {
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in nobody{AF_INET, htons(1), {htonl(INADDR_LOOPBACK)}, {}};
    const auto n = connect(s, reinterpret_cast<const sockaddr*>(&nobody), sizeof nobody);
    return errno == ECONNREFUSED ? 0L : static_cast<long>(n);
  };
  const auto signal_parent = [] { return static_cast<long>(kill(getppid(), 0)); };
  if (alone({}, [] { return 0L; }) == 201) GTEST_SKIP() << "an older Landlock";
  Rights network, processes;
  network.network = processes.processes = true;
  EXPECT_EQ(alone({}, bind_tcp), EACCES);
  EXPECT_EQ(alone({}, connect_tcp), EACCES);
  EXPECT_EQ(alone(network, bind_tcp), 0);
  EXPECT_EQ(alone(network, connect_tcp), 0);
  EXPECT_EQ(alone({}, signal_parent), EPERM);
  EXPECT_EQ(alone(network, signal_parent), EPERM);
  EXPECT_EQ(alone(processes, signal_parent), 0);
  EXPECT_EQ(alone(processes, bind_tcp), EACCES);
}

// --- all of it ----------------------------------------------------------------------------------

/// The output of `--verbose`, one line per mechanism.
std::string restrictions(const Rights& rights) {
  return in_child([&] {
           std::string text;
           for (const auto& line : enter_sandbox(rights)) text += line + "\n";
           return write(STDOUT_FILENO, text.data(), text.size()) >= 0 ? 0 : 1;
         })
      .out;
}

TEST_F(SandboxFiles, EachMechanismListsItsRestrictions) {
  const auto lines = restrictions(rights());
  EXPECT_TRUE(
      lines.starts_with("reads the model's folder, plugins and system libraries only (Landlock "))
      << lines;
  EXPECT_TRUE(lines.ends_with("no change of the system (seccomp)\n")) << lines;
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
  auto r = rights();
  r.write = true;
  EXPECT_EQ(restrictions(r),
            "any file this user can read can be read (a plugin declares that it writes files)\n"
            "no network, no other programs or processes, no change of the system (seccomp)\n");
}

TEST(Sandbox, MissingMechanismsAreReportedAndTheOthersHold) {
  const auto without = [](std::initializer_list<long> calls, int error) {
    return in_child([&] {
             for (const long call : calls) testing::fail_call(call, error);
             std::string text;
             for (const auto& line : enter_sandbox({})) text += line + "\n";
             text += socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? "sockets: " : "no sockets: ";
             text += open("/etc/hostname", O_RDONLY) < 0 ? "held" : "open";
             return write(STDOUT_FILENO, text.data(), text.size()) > 0 ? 0 : 1;
           })
        .out;
  };
  const std::string any = "any file this user can read can be read (",
                    seccomp =
                        ")\nno network, no other programs or processes, no writing of files, "
                        "no change of the system (seccomp)\nsockets: open";
  EXPECT_EQ(without({SYS_landlock_create_ruleset}, ENOSYS),
            any + "this kernel has no Landlock" + seccomp);
  EXPECT_EQ(without({SYS_landlock_restrict_self}, EPERM),
            any + "Operation not permitted" + seccomp);
  const auto capabilities = without({SYS_capget}, ENOSYS);
  EXPECT_TRUE(capabilities.starts_with("capabilities are as they were\n")) << capabilities;
  const auto set = without({SYS_capset}, EPERM);
  EXPECT_TRUE(set.starts_with("capabilities are as they were: Operation not permitted\n")) << set;
  const auto no_filter = without({SYS_seccomp, SYS_prctl}, EINVAL);
  EXPECT_NE(no_filter.find("new privileges are possible: Invalid argument\n"), std::string::npos);
  EXPECT_NE(no_filter.find("system calls are not limited (no seccomp here)\nno sockets: held"),
            std::string::npos)
      << no_filter;
}

TEST(Sandbox, FailedRulesAreReported) {
  const auto message = in_child([] {
                         const rlimit none{0, 0};
                         setrlimit(RLIMIT_NOFILE, &none);
                         const auto words = limit_files({}).words;
                         return write(STDOUT_FILENO, words.data(), words.size()) > 0 ? 0 : 1;
                       }).out;
  if (message.find("no Landlock") != message.npos) GTEST_SKIP() << message;
  EXPECT_EQ(message, "any file this user can read can be read (Too many open files)");
}

uint64_t& version_of_kernel() {
  static uint64_t version;
  return version;
}

/// The size and the rights of the ruleset requested from a kernel with this version of Landlock.
std::string ruleset_requested_of(int version) {
  return in_child([=] {
           version_of_kernel() = static_cast<uint64_t>(version);
           testing::answer_call(SYS_landlock_create_ruleset, [](const testing::CallArguments& a) {
             if (a[2] == LANDLOCK_CREATE_RULESET_VERSION)
               return static_cast<long>(version_of_kernel());
             std::printf("%d bytes, %llx: ", static_cast<int>(a[1]),
                         *reinterpret_cast<const unsigned long long*>(a[0]));
             return long{-EMFILE};
           });
           std::printf("%s", limit_files({}).words.c_str());
           std::fflush(stdout);
           return 0;
         })
      .out;
}

TEST(Sandbox, TheOldestLandlockIsUsed) {
  const std::string any = "any file this user can read can be read (";
  EXPECT_EQ(ruleset_requested_of(1), "8 bytes, 1fff: " + any + "Too many open files)");
  EXPECT_EQ(ruleset_requested_of(3), "8 bytes, 7fff: " + any + "Too many open files)");
  EXPECT_EQ(ruleset_requested_of(4), "16 bytes, 7fff: " + any + "Too many open files)");
  for (const int none : {0, -ENOSYS, -EOPNOTSUPP})
    EXPECT_EQ(ruleset_requested_of(none), any + "this kernel has no Landlock)");
}

TEST(Sandbox, IsSwitchedOffAndReportsIt) {
  const auto with = [](const char* value) {
    return in_child([=] {
             setenv("TMETER_SANDBOX", value, 1);
             const bool requested = sandbox_requested();
             const auto lines = enter_sandbox({});
             const bool limited = socket(AF_UNIX, SOCK_STREAM, 0) < 0;
             if (requested != limited || requested == lines.front().starts_with("off ")) return 2;
             return limited ? 1 : 0;
           })
        .status();
  };
  EXPECT_EQ(with("off"), 0);
  for (const auto* value : {"on", "", "Off", "0"}) EXPECT_EQ(with(value), 1) << value;
  EXPECT_EQ(in_child([] {
              unsetenv("TMETER_SANDBOX");
              return sandbox_requested() ? 0 : 1;
            }).status(),
            0);
}

TEST(Sandbox, LeavesNoCapabilitiesNoCoreDumpsAndNoGrowingFiles) {
  const auto status = in_child([] {
    std::FILE* file = std::tmpfile();
    enter_sandbox({});
    rlimit core{1, 1};
    getrlimit(RLIMIT_CORE, &core);
    if (core.rlim_cur != 0 || core.rlim_max != 0) return 1;
    if (write(fileno(file), "x", 1) != -1 || errno != EFBIG) return 2;
    // Root keeps its capability to read others' files; other users have no capabilities.
    std::ifstream facts("/proc/self/status");
    return facts ? 0 : 3;
  });
  EXPECT_EQ(status.status(), 3);  // /proc is not listed, either
  Rights r;
  r.read = {"/proc"};
  const auto facts = in_child([&] {
    enter_sandbox(r);
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("Cap") || line.starts_with("NoNewPrivs")) std::puts(line.c_str());
    std::fflush(stdout);
    return 0;
  });
  const std::string kept = geteuid() == 0 ? "0000000000000004" : "0000000000000000";
  EXPECT_NE(facts.out.find("CapInh:\t0000000000000000\n"), std::string::npos) << facts.out;
  EXPECT_NE(facts.out.find("CapPrm:\t" + kept + "\n"), std::string::npos) << facts.out;
  EXPECT_NE(facts.out.find("CapEff:\t" + kept + "\n"), std::string::npos) << facts.out;
  EXPECT_NE(facts.out.find("NoNewPrivs:\t1\n"), std::string::npos) << facts.out;
}

}  // namespace
}  // namespace tmeter::core
