// The system calls a worker may make, each with its reason. All others fail with ENOSYS, including
// calls that later kernels add.
//
// docs/reliability.md has the same table; tests/cli/test_system_calls.py compares the two and makes
// every call of the running kernel from a plugin.
#pragma once
#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cstdint>
#include <span>

// Calls that only older architectures have.
#ifndef __x86_64__
#define SYS_access -1
#define SYS_alarm -1
#define SYS_arch_prctl -1
#define SYS_chmod -1
#define SYS_chown -1
#define SYS_creat -1
#define SYS_dup2 -1
#define SYS_epoll_create -1
#define SYS_epoll_wait -1
#define SYS_eventfd -1
#define SYS_fork -1
#define SYS_getdents -1
#define SYS_getpgrp -1
#define SYS_lchown -1
#define SYS_link -1
#define SYS_lstat -1
#define SYS_mkdir -1
#define SYS_open -1
#define SYS_pause -1
#define SYS_pipe -1
#define SYS_poll -1
#define SYS_readlink -1
#define SYS_rename -1
#define SYS_rmdir -1
#define SYS_select -1
#define SYS_stat -1
#define SYS_symlink -1
#define SYS_time -1
#define SYS_unlink -1
#define SYS_utime -1
#define SYS_utimes -1
#define SYS_vfork -1
#endif

namespace tmeter::core {

/// The processes that may make a call: all, or those with one of these rights.
enum Permit : uint8_t {
  kEveryProcess = 0,
  kNetworkRight = 1,
  kFilesRight = 2,
  kProcessesRight = 4,
  kThreadsRight = 8,
  kInferenceRight = 16,
  kCountersRight = 32,
  kDevicesRight = 64,
};

struct PermittedCalls {
  uint8_t rights;  // one of them is enough
  const char* reason;
  std::span<const int> calls;
};

namespace calls {

// clang-format off
inline constexpr int kReading[] = {
    SYS_read, SYS_readv, SYS_pread64, SYS_preadv, SYS_lseek, SYS_fadvise64, SYS_readahead,
    SYS_getdents64};
inline constexpr int kWriting[] = {SYS_write, SYS_writev, SYS_pwrite64};
inline constexpr int kFacts[] = {
    SYS_stat, SYS_fstat, SYS_lstat, SYS_newfstatat, SYS_statx, SYS_statfs, SYS_fstatfs, SYS_access,
    SYS_faccessat, SYS_faccessat2, SYS_readlink, SYS_readlinkat, SYS_getcwd};
inline constexpr int kDescriptors[] = {
    SYS_close, SYS_close_range, SYS_dup, SYS_dup2, SYS_dup3, SYS_pipe, SYS_pipe2, SYS_eventfd2};
inline constexpr int kWaiting[] = {
    SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6, SYS_nanosleep, SYS_clock_nanosleep, SYS_pause,
    SYS_restart_syscall};
inline constexpr int kMemory[] = {
    SYS_brk, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_mincore, SYS_msync};
inline constexpr int kThreads[] = {
    SYS_futex, SYS_set_robust_list, SYS_get_robust_list, SYS_rseq, SYS_membarrier, SYS_exit,
    SYS_exit_group, SYS_gettid, SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_getparam,
    SYS_sched_getscheduler, SYS_sched_get_priority_max, SYS_sched_get_priority_min};
inline constexpr int kSignals[] = {
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending,
    SYS_rt_sigtimedwait, SYS_rt_sigsuspend, SYS_sigaltstack};
inline constexpr int kClocks[] = {
    SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_time, SYS_times, SYS_getrusage};
inline constexpr int kIdentity[] = {
    SYS_getpid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid};
inline constexpr int kMachine[] = {
    SYS_uname, SYS_sysinfo, SYS_getcpu, SYS_getrandom, SYS_getrlimit};
inline constexpr int kFolderAndMask[] = {SYS_umask, SYS_chdir, SYS_fchdir};

inline constexpr int kAffinity[] = {SYS_sched_setaffinity};
inline constexpr int kNuma[] = {SYS_get_mempolicy, SYS_set_mempolicy, SYS_mbind};
inline constexpr int kCounters[] = {SYS_perf_event_open};
inline constexpr int kConnections[] = {
    SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_sendto, SYS_recvfrom,
    SYS_sendmsg, SYS_recvmsg, SYS_sendmmsg, SYS_recvmmsg, SYS_shutdown, SYS_getsockname,
    SYS_getpeername, SYS_getsockopt, SYS_setsockopt, SYS_epoll_create, SYS_epoll_create1,
    SYS_epoll_ctl, SYS_epoll_wait, SYS_epoll_pwait};
inline constexpr int kOpening[] = {SYS_open, SYS_openat, SYS_creat};
inline constexpr int kContents[] = {
    SYS_pwritev, SYS_truncate, SYS_ftruncate, SYS_fallocate, SYS_fsync, SYS_fdatasync, SYS_flock,
    SYS_copy_file_range, SYS_sendfile, SYS_memfd_create};
inline constexpr int kNames[] = {
    SYS_unlink, SYS_unlinkat, SYS_rename, SYS_renameat, SYS_renameat2, SYS_mkdir, SYS_mkdirat,
    SYS_rmdir, SYS_link, SYS_linkat, SYS_symlink, SYS_symlinkat};
inline constexpr int kFileFacts[] = {
    SYS_chmod, SYS_fchmod, SYS_fchmodat, SYS_chown, SYS_fchown, SYS_lchown, SYS_fchownat,
    SYS_utime, SYS_utimes, SYS_utimensat};
inline constexpr int kPrograms[] = {
    SYS_fork, SYS_vfork, SYS_execve, SYS_execveat, SYS_wait4, SYS_waitid, SYS_kill,
    SYS_tgkill, SYS_setpgid, SYS_getpgid, SYS_getpgrp, SYS_getsid, SYS_getgroups,
    SYS_set_tid_address, SYS_getresuid, SYS_getresgid, SYS_prlimit64, SYS_alarm, SYS_getitimer,
    SYS_setitimer, SYS_socketpair};
#ifdef __x86_64__
inline constexpr int kStartOfPrograms[] = {SYS_arch_prctl};
#endif
// clang-format on

}  // namespace calls

inline constexpr PermittedCalls kPermittedCalls[] = {
    {kEveryProcess, "reading open files", calls::kReading},
    {kEveryProcess, "messages to the supervisor, and printing, which becomes notes",
     calls::kWriting},
    {kEveryProcess, "facts about files; names only where Landlock permits reading", calls::kFacts},
    {kEveryProcess, "descriptors of its own", calls::kDescriptors},
    {kEveryProcess, "waiting", calls::kWaiting},
    {kEveryProcess, "memory of its own", calls::kMemory},
    {kEveryProcess, "threads, and their end", calls::kThreads},
    {kEveryProcess, "handlers of signals, for crashes that are explained", calls::kSignals},
    {kEveryProcess, "the time", calls::kClocks},
    {kEveryProcess, "user and process ids, for libraries that read them", calls::kIdentity},
    {kEveryProcess, "the size of the machine, and random numbers", calls::kMachine},
    {kEveryProcess, "its own folder and mask, which tmeter checks after callbacks",
     calls::kFolderAndMask},
    {kThreadsRight | kInferenceRight, "processor affinity of OpenMP's threads", calls::kAffinity},
    {kInferenceRight, "NUMA nodes of large machines", calls::kNuma},
    {kCountersRight, "the processor's counters for this process", calls::kCounters},
    {kNetworkRight, "connections", calls::kConnections},
    {kFilesRight, "opening for writing", calls::kOpening},
    {kFilesRight, "the content of files", calls::kContents},
    {kFilesRight, "the names of files", calls::kNames},
    {kFilesRight, "modes, owners and times of files", calls::kFileFacts},
    {kProcessesRight, "other programs", calls::kPrograms},
#ifdef __x86_64__
    {kProcessesRight, "the start of a program", calls::kStartOfPrograms},
#endif
};

/// (an argument & mask) is one of `values`. Arguments are compared as 32 bits, as the kernel reads
/// them, or by their upper half.
struct ArgumentCondition {
  int argument;
  uint32_t mask;
  std::span<const uint32_t> values;
  bool upper_half = false;
};

/// A call with conditions on its arguments: all of them hold, or those of another row of the call.
struct CheckedCall {
  int call;
  uint8_t rights;
  const char* reason;
  std::span<const ArgumentCondition> conditions;
};

/// Represents this process's id in `values`.
inline constexpr uint32_t kThisProcess = 0xffff'ffff;

namespace arguments {

inline constexpr uint32_t kNone[] = {0}, kAll = ~uint32_t{0};

// Files are opened read-only: no writing, creating or truncating.
inline constexpr uint32_t kWriteBits = O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
inline constexpr ArgumentCondition kOpen[] = {{1, kWriteBits, kNone}};
inline constexpr ArgumentCondition kOpenAt[] = {{2, kWriteBits, kNone}};
// A device may be written to, but not created.
inline constexpr uint32_t kMakeBits = kWriteBits & ~uint32_t{O_ACCMODE};
inline constexpr ArgumentCondition kOpenDevice[] = {{1, kMakeBits, kNone}};
inline constexpr ArgumentCondition kOpenDeviceAt[] = {{2, kMakeBits, kNone}};

// Pages that can be read, written and run; of ordinary size, so that --max-memory counts them.
#ifdef __aarch64__
inline constexpr uint32_t kProtection = 0x7 | 0x10 | 0x20;  // PROT_BTI, PROT_MTE
#else
inline constexpr uint32_t kProtection = 0x7;
#endif
inline constexpr uint32_t kMapping = MAP_SHARED | MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS |
                                     MAP_NORESERVE | MAP_STACK | MAP_POPULATE | MAP_DENYWRITE |
                                     MAP_FIXED_NOREPLACE | MAP_EXECUTABLE | 0x40 /* MAP_32BIT */;
inline constexpr ArgumentCondition kMmap[] = {{2, ~kProtection, kNone}, {3, ~kMapping, kNone}};

// 102 and 103: guard pages, which glibc puts below the stacks of threads.
inline constexpr uint32_t kAdvice[] = {MADV_NORMAL,
                                       MADV_RANDOM,
                                       MADV_SEQUENTIAL,
                                       MADV_WILLNEED,
                                       MADV_DONTNEED,
                                       MADV_FREE,
                                       MADV_DONTFORK,
                                       MADV_DOFORK,
                                       MADV_HUGEPAGE,
                                       MADV_NOHUGEPAGE,
                                       MADV_DONTDUMP,
                                       MADV_DODUMP,
                                       MADV_COLD,
                                       MADV_PAGEOUT,
                                       22 /* POPULATE_READ */,
                                       23 /* POPULATE_WRITE */,
                                       102,
                                       103};
inline constexpr ArgumentCondition kMadvise[] = {{2, kAll, kAdvice}};

// O_ASYNC would have signals sent.
inline constexpr uint32_t kDescriptorCommands[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD,
                                                   F_GETFL};
inline constexpr uint32_t kSetFlags[] = {F_SETFL};
inline constexpr ArgumentCondition kFcntl[] = {{1, kAll, kDescriptorCommands}};
inline constexpr ArgumentCondition kFcntlFlags[] = {{1, kAll, kSetFlags}, {2, O_ASYNC, kNone}};
inline constexpr uint32_t kLocks[] = {F_GETLK,     F_SETLK,     F_SETLKW,
                                      F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW};
inline constexpr ArgumentCondition kFcntlLocks[] = {{1, kAll, kLocks}};

inline constexpr uint32_t kTerminalFacts[] = {TCGETS,  TIOCGWINSZ, FIONREAD,
                                              FIONBIO, FIOCLEX,    FIONCLEX};
inline constexpr ArgumentCondition kIoctl[] = {{1, kAll, kTerminalFacts}};
inline constexpr uint32_t kOfCounters[] = {'$' << 8};
inline constexpr ArgumentCondition kIoctlCounters[] = {{1, 0xff00, kOfCounters}};
// NVIDIA's: of type 'F'; of unified memory, small numbers and two with a high bit.
inline constexpr uint32_t kOfNvidia[] = {'F' << 8};
inline constexpr uint32_t kUnifiedMemoryStart[] = {0x3000'0001, 0x3000'0002};
inline constexpr ArgumentCondition kIoctlNvidia[] = {{1, 0xff00, kOfNvidia}};
inline constexpr ArgumentCondition kIoctlUnified[] = {{1, ~uint32_t{0xff}, kNone}};
inline constexpr ArgumentCondition kIoctlUnifiedStart[] = {{1, kAll, kUnifiedMemoryStart}};

inline constexpr uint32_t kProcessFacts[] = {PR_SET_NAME,     PR_GET_NAME,
                                             PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS,
                                             PR_GET_SECCOMP,  0x53564d41 /* PR_SET_VMA: a name */};
inline constexpr ArgumentCondition kPrctl[] = {{0, kAll, kProcessFacts}};

#ifdef __x86_64__
// ARCH_GET_XCOMP_SUPP, ARCH_GET_XCOMP_PERM, ARCH_REQ_XCOMP_PERM: the tiles of AMX.
inline constexpr uint32_t kTiles[] = {0x1021, 0x1022, 0x1023};
inline constexpr ArgumentCondition kArchPrctl[] = {{0, kAll, kTiles}};
#endif

// Threads of this process: with its memory, and no namespace of their own.
inline constexpr uint32_t kThreadBits[] = {CLONE_VM | CLONE_THREAD};
inline constexpr uint32_t kThreadFlags =
    CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
    CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | CLONE_DETACHED;
inline constexpr ArgumentCondition kClone[] = {{0, CLONE_VM | CLONE_THREAD, kThreadBits},
                                               {0, ~kThreadFlags, kNone}};
inline constexpr uint32_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                        CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
inline constexpr ArgumentCondition kCloneProcess[] = {{0, kNamespaces, kNone}};

inline constexpr uint32_t kSelf[] = {kThisProcess}, kSelfOrNone[] = {0, kThisProcess};
inline constexpr ArgumentCondition kOwnProcess[] = {{0, kAll, kSelf}};
// Limits are read, not set: the new ones are a null pointer.
inline constexpr ArgumentCondition kPrlimit[] = {
    {0, kAll, kSelfOrNone}, {2, kAll, kNone}, {2, kAll, kNone, true}};

inline constexpr uint32_t kInternet[] = {AF_INET, AF_INET6}, kNetlink[] = {AF_NETLINK},
                          kTransports[] = {SOCK_STREAM, SOCK_DGRAM}, kRoutes[] = {NETLINK_ROUTE};
inline constexpr uint32_t kKindBits = 0xf;
inline constexpr ArgumentCondition kSocket[] = {{0, kAll, kInternet}, {1, kKindBits, kTransports}};
inline constexpr ArgumentCondition kSocketRoutes[] = {{0, kAll, kNetlink}, {2, kAll, kRoutes}};

}  // namespace arguments

inline constexpr CheckedCall kCheckedCalls[] = {
    {SYS_open, kEveryProcess, "files are opened to be read", arguments::kOpen},
    {SYS_openat, kEveryProcess, "files are opened to be read", arguments::kOpenAt},
    {SYS_open, kDevicesRight, "a GPU is opened for writing", arguments::kOpenDevice},
    {SYS_openat, kDevicesRight, "a GPU is opened for writing", arguments::kOpenDeviceAt},
    {SYS_mmap, kEveryProcess, "memory, files and libraries; no huge pages, which no limit counts",
     arguments::kMmap},
    {SYS_madvise, kEveryProcess, "advice on its own pages", arguments::kMadvise},
    {SYS_fcntl, kEveryProcess, "duplicating descriptors, and their flags", arguments::kFcntl},
    {SYS_fcntl, kEveryProcess, "non-blocking descriptors; none that sends signals",
     arguments::kFcntlFlags},
    {SYS_fcntl, kFilesRight, "locks of files", arguments::kFcntlLocks},
    {SYS_ioctl, kEveryProcess, "whether it is a terminal, and how much can be read",
     arguments::kIoctl},
    {SYS_ioctl, kCountersRight, "starting and stopping counters", arguments::kIoctlCounters},
    {SYS_ioctl, kDevicesRight, "NVIDIA's driver", arguments::kIoctlNvidia},
    {SYS_ioctl, kDevicesRight, "NVIDIA's unified memory", arguments::kIoctlUnified},
    {SYS_ioctl, kDevicesRight, "NVIDIA's unified memory, its start and end",
     arguments::kIoctlUnifiedStart},
    {SYS_prctl, kEveryProcess, "names of threads and of memory, whether it may dump a core",
     arguments::kPrctl},
#ifdef __x86_64__
    {SYS_arch_prctl, kEveryProcess, "matrix units of the processor (AMX)", arguments::kArchPrctl},
#endif
    {SYS_clone, kEveryProcess, "threads, not processes", arguments::kClone},
    {SYS_clone, kProcessesRight, "processes, without a namespace of their own",
     arguments::kCloneProcess},
    {SYS_kill, kEveryProcess, "only itself", arguments::kOwnProcess},
    {SYS_tgkill, kEveryProcess, "threads of its own, as for abort()", arguments::kOwnProcess},
    {SYS_prlimit64, kEveryProcess, "reading its own limits", arguments::kPrlimit},
    {SYS_socket, kNetworkRight, "TCP and UDP", arguments::kSocket},
    {SYS_socket, kNetworkRight, "which addresses the machine has, for names of hosts",
     arguments::kSocketRoutes},
};

}  // namespace tmeter::core
