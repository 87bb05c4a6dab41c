// A third-party plugin that misbehaves on demand, for the tests of the supervisor and the sandbox.
// ROGUE=WHERE:WHAT makes it do WHAT (the table below) in one of its callbacks: init, configure,
// metric, analysis or writer. ROGUE_TRY="WHAT ARGUMENT;…" makes its analysis try actions that the
// sandbox forbids and report each outcome in a finding: "write: Permission denied" or "write:
// done".
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

namespace {

volatile int zero = 0;

// NOLINTNEXTLINE(misc-no-recursion): that is its purpose
int deep(volatile char* before) {
  volatile char here[4096];
  here[0] = before ? before[0] : 1;
  return deep(here) + here[0];
}

void take_memory() {
  std::vector<char*> blocks;
  for (;;) {
    blocks.push_back(new char[size_t{64} << 20]);
    std::memset(blocks.back(), 1, size_t{64} << 20);
  }
}

/// Memory that malloc's limits do not see.
void share_memory() {
  for (;;) {
    void* p =
        mmap(nullptr, size_t{64} << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p != MAP_FAILED) std::memset(p, 1, size_t{64} << 20);
  }
}

/// Keeps all available memory without a message.
void keep_memory() {
  static std::vector<char*> kept;
  kept.reserve(size_t{1} << 20);
  for (const size_t size : {size_t{1} << 20, size_t{1} << 14, size_t{1} << 10, size_t{64}})
    for (char* block = nullptr; (block = new (std::nothrow) char[size]);) kept.push_back(block);
}

/// Keeps all mappings that a process may have (vm.max_map_count), which take little memory.
void keep_mappings() {
  for (int i = 0;; ++i)
    if (mmap(nullptr, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
        MAP_FAILED)
      return;
}

void close_from(int first, int end) {
  for (int fd = first; fd < end; ++fd) close(fd);
}

void write_to(int first, int end) {
  const std::string bytes(64, '\xff');
  for (int fd = first; fd < end; ++fd) {
    if (write(fd, bytes.data(), bytes.size()) < 0) continue;
  }
}

const std::map<std::string, std::function<void()>> kDeeds{
    {"segv", [] { *reinterpret_cast<volatile int*>(8) = 1; }},
    {"abort", [] { std::abort(); }},
    {"divide", [] { raise(SIGFPE); }},
    {"stack", [] { zero = deep(nullptr); }},
    {"exit", [] { std::exit(0); }},
    {"_exit", [] { _exit(0); }},
    {"kill", [] { kill(getpid(), SIGKILL); }},
    {"hang",
     [] {
       for (;;) pause();
     }},
    {"spin",
     [] {
       while (zero == 0) continue;
     }},
    {"memory", take_memory},
    {"shared-memory", share_memory},
    {"keep-memory", keep_memory},
    {"keep-mappings", keep_mappings},
    {"close", [] { close_from(3, 64); }},
    {"close-all", [] { close_from(3, 1024), sleep(60); }},
    {"garbage", [] { write_to(3, 64); }},
    {"garbage-everywhere", [] { write_to(3, 1024), sleep(60); }},
    {"print",
     [] {
       std::puts("hello \x1b[31mred\x1b]0;title\x07");
       std::fputs("two\nlines", stderr);
     }},
    {"thread", [] { std::thread([] { std::abort(); }).join(); }},
    {"escape", [] { throw tmeter::Error("\x1b[2Jgone\nsecond line \xff\xe2\x80\xae"); }},
};

void misbehave(const char* where) {
  const char* rogue = std::getenv("ROGUE");
  const std::string wish = rogue ? rogue : "";
  if (!wish.starts_with(std::string(where) + ":")) return;
  kDeeds.at(wish.substr(wish.find(':') + 1))();
}

int opened(const std::string& path, int flags) { return open(path.c_str(), flags, 0600); }

int executed(const std::string& path) {
  char* const arguments[] = {const_cast<char*>(path.c_str()), nullptr};
  return execve(path.c_str(), arguments, nullptr);
}

int forked() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  return child;
}

int called(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) {
  return static_cast<int>(syscall(number, a, b, c, d, e));
}

long pointer(const void* p) { return reinterpret_cast<long>(p); }

/// Newer than Debian 12's headers.
constexpr long kFchmodat2 = 452, kSetxattrat = 463, kRemovexattrat = 466, kFileSetattr = 469;
constexpr unsigned long kSetFlags = 0x40086602;  // FS_IOC_SETFLAGS

int on_file(const std::string& path, int (*what)(int)) {
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  return fd < 0 ? fd : what(fd);
}

/// Starts a child that ends at once, and its child, which stays.
int daemon_started() {
  const pid_t child = fork();
  if (child != 0) return child;
  if (fork() != 0) _exit(0);
  setsid();
  for (;;) pause();
}

/// A result below 0, with errno, is a failure.
const std::map<std::string, std::function<int(const std::string&)>> kAttempts{
    {"read", [](const std::string& p) { return opened(p, O_RDONLY); }},
    {"write", [](const std::string& p) { return opened(p, O_WRONLY | O_CREAT | O_TRUNC); }},
    {"append", [](const std::string& p) { return opened(p, O_WRONLY | O_APPEND); }},
    {"unlink", [](const std::string& p) { return unlink(p.c_str()); }},
    {"rename", [](const std::string& p) { return rename(p.c_str(), (p + ".moved").c_str()); }},
    {"truncate", [](const std::string& p) { return truncate(p.c_str(), 0); }},
    {"chmod", [](const std::string& p) { return chmod(p.c_str(), 0777); }},
    {"mkdir", [](const std::string& p) { return mkdir(p.c_str(), 0700); }},
    {"symlink", [](const std::string& p) { return symlink("/etc", p.c_str()); }},
    {"execve", executed},
    {"fork", [](const std::string&) { return forked(); }},
    {"system",
     [](const std::string& p) {
       errno = EPERM;
       return std::system(p.c_str()) == 0 ? 0 : -1;
     }},
    {"socket", [](const std::string&) { return socket(AF_INET, SOCK_STREAM, 0); }},
    {"unix", [](const std::string&) { return socket(AF_UNIX, SOCK_STREAM, 0); }},
    {"ptrace",
     [](const std::string&) {
       return static_cast<int>(ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr));
     }},
    {"signal", [](const std::string&) { return kill(getppid(), SIGWINCH); }},
    {"unshare",
     [](const std::string&) { return static_cast<int>(syscall(SYS_unshare, 0x10000000)); }},
    {"memfd",
     [](const std::string&) { return static_cast<int>(syscall(SYS_memfd_create, "x", 0)); }},
    {"setuid",
     [](const std::string& p) {
       return called(kFchmodat2, AT_FDCWD, pointer(p.c_str()), 04755, 0);
     }},
    {"setxattrat",
     [](const std::string& p) {
       struct {
         uint64_t value;
         uint32_t size, flags;
       } arguments{reinterpret_cast<uint64_t>("x"), 1, 0};
       return called(kSetxattrat, AT_FDCWD, pointer(p.c_str()), 0, pointer("user.rogue"),
                     pointer(&arguments));
     }},
    {"removexattrat",
     [](const std::string& p) {
       return called(kRemovexattrat, AT_FDCWD, pointer(p.c_str()), 0, pointer("user.there"));
     }},
    {"file_setattr",
     [](const std::string& p) {
       uint64_t attributes[4] = {0x80 /* not dumped */, 0, 0, 0};
       return called(kFileSetattr, AT_FDCWD, pointer(p.c_str()), pointer(attributes), 24, 0);
     }},
    {"set-flags",
     [](const std::string& p) {
       return on_file(p, [](int fd) {
         int flags = 0x40;  // not dumped
         return ioctl(fd, kSetFlags, &flags);
       });
     }},
    {"shared-memory",
     [](const std::string&) { return shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600); }},
    {"queue", [](const std::string&) { return called(SYS_msgget, IPC_PRIVATE, IPC_CREAT | 0600); }},
    {"posix-queue",
     [](const std::string& p) {
       return called(SYS_mq_open, pointer(p.c_str()), O_RDWR | O_CREAT, 0600, 0);
     }},
    {"type",
     [](const std::string& p) {
       return on_file(p, [](int fd) { return ioctl(fd, TIOCSTI, "x"); });
     }},
    {"terminal", [](const std::string&) { return opened("/dev/tty", O_RDONLY); }},
    {"own-signals",
     [](const std::string&) {
       int ends[2];
       if (pipe(ends) != 0) return -1;
       return fcntl(ends[0], F_SETOWN, getppid());
     }},
    {"signal-kind",
     [](const std::string&) {
       int ends[2];
       if (pipe(ends) != 0) return -1;
       return fcntl(ends[0], F_SETSIG, SIGKILL);
     }},
    {"outlive", [](const std::string&) { return prctl(PR_SET_PDEATHSIG, 0); }},
    {"daemon", [](const std::string&) { return daemon_started(); }},
    {"named",
     [](const std::string& p) {
       Dl_info own{};
       errno = ENOENT;
       return dladdr(const_cast<int*>(&zero), &own) != 0 && p == own.dli_fname ? 0 : -1;
     }},
    {"others-group", [](const std::string&) { return kill(0, 0); }},
    {"thread",
     [](const std::string&) {
       std::thread([] {}).join();
       return 0;
     }},
};

void try_all(tmeter::Call& call) {
  const char* wishes = std::getenv("ROGUE_TRY");
  std::string rest = wishes ? wishes : "";
  while (!rest.empty()) {
    const auto wish = rest.substr(0, rest.find(';'));
    rest.erase(0, wish.size() + 1);
    const auto space = wish.find(' ');
    const auto what = wish.substr(0, space);
    const auto argument = space == std::string::npos ? "" : wish.substr(space + 1);
    const int result = kAttempts.at(what)(argument);
    const std::string outcome = result < 0 ? std::strerror(errno) : "done";
    tmeter::Finding finding;
    finding.rule = what;
    finding.text = what + ": " + outcome;
    call.add(finding);
  }
}

}  // namespace

TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{
        .id = "com.rogue.all", .version = "1.0.0", .name = "rogue", .rights = ROGUE_RIGHTS}),
    [](tmeter::Registrar& r) {
      misbehave("init");
      r.metric({.id = "rogue",
                .title = "rogue",
                .axis = TMETER_AXIS_NODE,
                .convention = "1 per operator"});
      r.configure([](tmeter::Call&) { misbehave("configure"); });
      r.op("*").handle("rogue", [](const tmeter::Node&) {
        misbehave("metric");
        return tmeter::Count(1);
      });
      r.analysis("try", "", "", [](const tmeter::Graph&, tmeter::Call& call) {
        misbehave("analysis");
        try_all(call);
      });
      r.writer("rogue", "txt", "text/plain",
               [](const tmeter::Report&, tmeter::Output& out, tmeter::Call&) {
                 misbehave("writer");
                 out.write("written\n");
               });
    })
