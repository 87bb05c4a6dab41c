// A stranger's plugin that misbehaves on demand, for the tests of the supervisor and the sandbox.
// ROGUE=WHERE:WHAT makes it do WHAT (the table below) in one of its callbacks: init, configure,
// metric, analysis or writer. ROGUE_TRY="WHAT ARGUMENT;…" makes its analysis try what the sandbox
// forbids and tell, in findings, what came of it: "write: Permission denied" or "write: done".
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
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

/// Below 0 with errno: it did not work.
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
