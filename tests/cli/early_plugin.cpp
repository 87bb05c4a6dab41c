// A plugin whose code runs as early as code of a library can: in a resolver (IFUNC), in a
// constructor, in `init`. Each tries actions that the sandbox forbids and leaves evidence where it
// succeeds: the file EVIDENCE-WHERE with the first bytes of /etc/passwd, and a process that stays.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tmeter/cpp/plugin.hpp>

namespace {

/// A system call without the C library, which cannot be called from a resolver.
inline __attribute__((always_inline)) long raw(long number, long a = 0, long b = 0, long c = 0,
                                               long d = 0) {
  long result;
  register long fourth asm("r10") = d;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
               : "rcx", "r11", "memory");
  return result;
}

inline __attribute__((always_inline)) void try_it(const char* evidence) {
  char secret[64];
  const long from = raw(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/etc/passwd"), O_RDONLY);
  const long size = raw(SYS_read, from, reinterpret_cast<long>(secret), sizeof secret);
  const long to =
      raw(SYS_openat, AT_FDCWD, reinterpret_cast<long>(evidence), O_WRONLY | O_CREAT, 0600);
  if (to >= 0) raw(SYS_write, to, reinterpret_cast<long>(secret), size > 0 ? size : 0);
  if (raw(SYS_fork) == 0) {
    // A process that sleeps for 20 s and holds the file open, if there is a file.
    const long time[2] = {20, 0};
    raw(SYS_nanosleep, reinterpret_cast<long>(time), 0);
    raw(SYS_exit_group, 0);
  }
}

int answer() { return 42; }

using Function = int (*)();

extern "C" __attribute__((used)) Function choose() {
  try_it(EVIDENCE "resolver");
  return answer;
}

extern "C" int chosen() __attribute__((ifunc("choose"), visibility("default")));

__attribute__((constructor)) void construct() { try_it(EVIDENCE "constructor"); }

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "com.rogue.early", .version = "1.0.0", .name = "early"}),
                   [](tmeter::Registrar& r) {
                     try_it(EVIDENCE "init");
                     r.metric({.id = "early",
                               .title = "early",
                               .axis = TMETER_AXIS_NODE,
                               .convention = "42 per operator"});
                     r.option({.key = "answer", .default_value = "42", .text = "the answer"});
                     r.op("*").handle("early",
                                      [](const tmeter::Node&) { return tmeter::Count(chosen()); });
                     r.writer("early", "txt", "text/plain",
                              [](const tmeter::Report&, tmeter::Output& out, tmeter::Call&) {
                                out.write("written\n");
                              });
                   })
