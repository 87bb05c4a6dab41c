// Which system calls a worker may not make. What a plugin or LibTorch may need to compute is not
// listed: memory, threads, clocks, reading. Refused calls fail with an error, so that the code that
// made them goes on. The kernel checks the filter call by call when it is loaded (0.3 ms for a
// hundred rules), so what Landlock and missing capabilities hold already is left to them.
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/process/sandbox.hpp"

namespace tmeter::core {
namespace {

constexpr int kProcesses[] = {SCMP_SYS(execve),
                              SCMP_SYS(execveat),
                              SCMP_SYS(fork),
                              SCMP_SYS(vfork),
                              SCMP_SYS(ptrace),
                              SCMP_SYS(process_vm_readv),
                              SCMP_SYS(process_vm_writev),
                              SCMP_SYS(process_madvise),
                              SCMP_SYS(pidfd_getfd)};

/// Where Landlock does not say that signals stay inside.
constexpr int kSignalling[] = {SCMP_SYS(tkill), SCMP_SYS(rt_sigqueueinfo),
                               SCMP_SYS(pidfd_send_signal)};

/// Nothing else is open that could be connected or sent through.
constexpr int kNetwork[] = {SCMP_SYS(socket), SCMP_SYS(socketpair)};

/// What Landlock knows nothing of.
constexpr int kFileFacts[] = {
    SCMP_SYS(chmod),        SCMP_SYS(fchmod),       SCMP_SYS(fchmodat),
    SCMP_SYS(chown),        SCMP_SYS(fchown),       SCMP_SYS(lchown),
    SCMP_SYS(fchownat),     SCMP_SYS(utime),        SCMP_SYS(utimes),
    SCMP_SYS(utimensat),    SCMP_SYS(futimesat),    SCMP_SYS(setxattr),
    SCMP_SYS(lsetxattr),    SCMP_SYS(fsetxattr),    SCMP_SYS(removexattr),
    SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr), SCMP_SYS(open_by_handle_at),
    SCMP_SYS(memfd_create)};

/// Where Landlock is not there, or too old to hold all of them.
constexpr int kFiles[] = {SCMP_SYS(creat),    SCMP_SYS(unlink),    SCMP_SYS(unlinkat),
                          SCMP_SYS(rename),   SCMP_SYS(renameat),  SCMP_SYS(renameat2),
                          SCMP_SYS(mkdir),    SCMP_SYS(mkdirat),   SCMP_SYS(rmdir),
                          SCMP_SYS(mknod),    SCMP_SYS(mknodat),   SCMP_SYS(link),
                          SCMP_SYS(linkat),   SCMP_SYS(symlink),   SCMP_SYS(symlinkat),
                          SCMP_SYS(truncate), SCMP_SYS(ftruncate), SCMP_SYS(fallocate)};

/// Whatever plugins declare: nobody computes with these. What needs a capability is not listed:
/// there is none.
constexpr int kNever[] = {SCMP_SYS(setns),           SCMP_SYS(unshare),
                          SCMP_SYS(keyctl),          SCMP_SYS(add_key),
                          SCMP_SYS(request_key),     SCMP_SYS(bpf),
                          SCMP_SYS(userfaultfd),     SCMP_SYS(io_uring_setup),
                          SCMP_SYS(personality)};
constexpr int kCounters[] = {SCMP_SYS(perf_event_open)};

class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_ALLOW)) {
    // A tree instead of a chain: the kernel tries every call there is while it loads the filter.
    if (context_) seccomp_attr_set(context_, SCMP_FLTATR_CTL_OPTIMIZE, kBinaryTree);
  }
  ~Filter() { seccomp_release(context_); }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  template <size_t N>
  void refuse(const int (&calls)[N]) {
    for (const int call : calls) add(call, EPERM, {});
  }
  void refuse_if(int call, int error, scmp_arg_cmp condition) { add(call, error, {&condition, 1}); }
  void answer(int call, int error) { add(call, error, {}); }
  bool load() { return context_ && !failed_ && seccomp_load(context_) == 0; }

 private:
  struct Conditions {
    const scmp_arg_cmp* first = nullptr;
    unsigned count = 0;
  };
  void add(int call, int error, Conditions c) {
    if (!context_) return;
    const auto action = SCMP_ACT_ERRNO(static_cast<uint32_t>(error));
    const int result = seccomp_rule_add_array(context_, action, call, c.count, c.first);
    // A call this machine does not have cannot be made.
    if (result != 0 && result != -EDOM && result != -EFAULT) failed_ = true;
  }
  static constexpr uint32_t kBinaryTree = 2;
  scmp_filter_ctx context_;
  bool failed_ = false;
};

void refuse_writing(Filter& f, int landlock) {
  constexpr int kHoldsAll = 3;  // with truncation
  f.refuse(kFileFacts);
  if (landlock >= kHoldsAll) return;
  f.refuse(kFiles);
  for (const auto& [call, flags] : {std::pair{SCMP_SYS(open), 1u}, {SCMP_SYS(openat), 2u}}) {
    for (const scmp_datum_t way : {O_WRONLY, O_RDWR})
      f.refuse_if(call, EACCES, SCMP_CMP(flags, SCMP_CMP_MASKED_EQ, O_ACCMODE, way));
    for (const scmp_datum_t way : {O_CREAT, O_TRUNC})
      f.refuse_if(call, EACCES, SCMP_CMP(flags, SCMP_CMP_MASKED_EQ, way, way));
  }
  f.answer(SCMP_SYS(openat2), ENOSYS);  // its flags lie in memory; callers fall back to openat
}

void refuse_processes(Filter& f, int landlock) {
  constexpr int kHoldsSignals = 6;
  f.refuse(kProcesses);
  f.refuse_if(SCMP_SYS(clone), EPERM, SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
  f.answer(SCMP_SYS(clone3), ENOSYS);  // likewise; threads are made with clone
  f.refuse_if(SCMP_SYS(prlimit64), EPERM, SCMP_A0(SCMP_CMP_NE, 0));
  if (landlock >= kHoldsSignals) return;
  f.refuse(kSignalling);
  const auto self = static_cast<scmp_datum_t>(getpid());  // a process may abort itself
  for (const int call : {SCMP_SYS(kill), SCMP_SYS(tgkill), SCMP_SYS(rt_tgsigqueueinfo)})
    f.refuse_if(call, EPERM, SCMP_A0(SCMP_CMP_NE, self));
}

}  // namespace

std::string limit_system_calls(const Rights& rights, int landlock) {
  Filter filter;
  filter.refuse(kNever);
  std::string words;
  if (!rights.counters) filter.refuse(kCounters);
  if (!rights.network) filter.refuse(kNetwork), words += "no network, ";
  if (!rights.processes)
    refuse_processes(filter, landlock), words += "no other programs or processes, ";
  if (!rights.write) refuse_writing(filter, landlock), words += "no writing of files, ";
  if (!filter.load()) return "system calls are not limited (no seccomp here)";
  return words + "no change of the system (seccomp)";
}

}  // namespace tmeter::core
