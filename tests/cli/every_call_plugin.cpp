// A plugin that makes every existing system call in the sandbox and lists the answered ones in a
// finding. A call counts as answered unless it fails like a call that the kernel lacks. The
// arguments make each call harmless. Calls that end the process, return from a signal handler or
// wait are left out.
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <set>
#include <string>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

namespace {

constexpr long kMaxNumbers = 1024, kOtherTable = 0x4000'0000;
// 335 and 336 are the kernel's own, for probes: they pass any filter and end the calling process.
const std::set<long> kNotMade{SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_pause, 335, 336};

long futex_word = 0;

/// Arguments for calls where -1 everywhere is not enough: the kernel itself may answer ENOSYS, or
/// the sandbox checks the arguments.
const std::map<long, std::vector<long>>& arguments() {
  static const std::map<long, std::vector<long>> all{
      {SYS_futex, {reinterpret_cast<long>(&futex_word), FUTEX_WAKE, 0}},
      {SYS_mmap, {0, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0}},  // of zero length
      {SYS_madvise, {0, 0, MADV_NORMAL}},
      {SYS_fcntl, {-1, F_GETFD}},
      {SYS_ioctl, {-1, FIONREAD}},
      {SYS_prctl, {PR_GET_DUMPABLE, 0, 0, 0, 0}},
      {SYS_arch_prctl, {0x1022, -1}},
      {SYS_clone,
       {CLONE_VM | CLONE_THREAD}},  // CLONE_THREAD requires CLONE_SIGHAND: the kernel refuses it
      {SYS_kill, {getpid(), 0}},
      {SYS_tgkill, {getpid(), -1, 0}},
      {SYS_prlimit64, {0, -1, 0, -1}},
      {SYS_socket, {AF_INET, SOCK_STREAM, -1}},
  };
  return all;
}

bool is_answered(long number) {
  const auto found = arguments().find(number);
  auto a = found == arguments().end() ? std::vector<long>(6, -1) : found->second;
  a.resize(6);
  errno = 0;
  return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]) != -1 || errno != ENOSYS;
}

std::string answered(long table) {
  std::string out;
  for (long n = 0; n < kMaxNumbers; ++n) {
    if (kNotMade.contains(n)) continue;
    if (is_answered(table + n)) out += (out.empty() ? "" : " ") + std::to_string(n);
  }
  return out;
}

}  // namespace

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "com.rogue.every", .version = "1.0.0", .name = "every", .rights = RIGHTS}),
    [](tmeter::Registrar& r) {
      r.metric({.id = "every",
                .title = "every",
                .axis = TMETER_AXIS_NODE,
                .convention = "1 per operator"});
      r.op("*").handle("every", [](const tmeter::Node&) { return tmeter::Count(1); });
      r.analysis("calls", "", "", [](const tmeter::Graph&, tmeter::Call& call) {
        const auto mask = umask(0);
        for (const auto& [rule, table] : {std::pair{"own", 0L}, {"other", kOtherTable}}) {
          tmeter::Finding finding;
          finding.rule = rule;
          finding.text = "answered: " + answered(table);
          call.add(finding);
        }
        umask(mask);
      });
    })
