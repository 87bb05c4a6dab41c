// A third-party plugin that sends the supervisor messages that only the host may send, or leaves
// its process in a state that ends it later. FORGER=WHERE:WHAT makes it do WHAT (the table below)
// in metric, analysis, writer or deinit.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <tmeter/cpp/plugin.hpp>

namespace {

// core/process/channel.hpp
enum Kind : uint32_t {
  kMessage = 1,
  kProgress = 2,
  kReport = 4,
  kOffender = 6,
  kFinished = 7,
  kRunsModel = 8,
  kLongReport = 9,
  kReportWhole = 10,
  kParticipant = 11,
};

struct Header {
  uint32_t kind, size;
  uint64_t numbers[2];
};

/// The pipe to the supervisor: the first open descriptor for writing apart from the standard
/// streams.
int line_out() {
  for (int fd = 3; fd < 4096; ++fd) {
    const int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) == O_WRONLY) return fd;
  }
  return -1;
}

void write_all(int fd, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, bytes, size);
    if (n <= 0) return;
    bytes += n;
    size -= static_cast<size_t>(n);
  }
}

void say(uint32_t kind, uint64_t first = 0, uint64_t second = 0, const std::string& text = {}) {
  static const int fd = line_out();
  const Header header{kind, static_cast<uint32_t>(text.size()), {first, second}};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += text;
  write_all(fd, bytes.data(), bytes.size());
}

void sleep_for_ever() {
  for (;;) pause();
}

[[noreturn]] void flood(const std::function<void(uint64_t)>& once) {
  for (uint64_t i = 0;; ++i) once(i);
}

std::string distinct(uint64_t i, size_t size) { return std::to_string(i) + std::string(size, 'x'); }

/// Ends the process when the timer fires, at any place.
void set_timer(int which) {
  const itimerval soon{{0, 0}, {0, 20'000}};
  setitimer(which, &soon, nullptr);
}

void limit(__rlimit_resource resource, rlim_t value) {
  const rlimit limits{value, value};
  setrlimit(resource, &limits);
}

/// Writes over all memory that is shared with the supervisor, as a stray pointer could.
void write_over_shared_memory(const std::function<char()>& next) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    char rights[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights) != 3) continue;
    if (rights[1] != 'w' || rights[3] != 's') continue;
    auto* const bytes = reinterpret_cast<volatile char*>(begin);
    for (size_t i = 0; i < end - begin; ++i) bytes[i] = next();
  }
}

const std::map<std::string, std::function<void()>> kDeeds{
    {"hang", sleep_for_ever},
    {"nothing", [] {}},
    {"finished", [] { say(kFinished), sleep_for_ever(); }},
    {"all-done",
     [] {
       say(kReport, 0, 0, "{}");
       say(kReportWhole, 0, 2);
       say(kFinished);
       sleep_for_ever();
     }},
    {"both-done",
     [] {
       say(kReportWhole, 0, 0);
       say(kReportWhole, 1, 0);
       say(kFinished);
       sleep_for_ever();
     }},
    {"status", [] { say(kFinished, 7), sleep_for_ever(); }},
    {"large-status", [] { say(kFinished, uint64_t{1} << 40), sleep_for_ever(); }},
    {"target", [] { say(kReport, 99, 0, "x"), sleep_for_ever(); }},
    {"place", [] { say(kLongReport, 0, ~uint64_t{0}), sleep_for_ever(); }},
    {"kind", [] { say(77), sleep_for_ever(); }},
    {"model", [] { say(kRunsModel), sleep_for_ever(); }},
    {"half", [] { say(kReport, 0, 0, "x"), say(kReportWhole, 0, 5), sleep_for_ever(); }},
    {"blame", [] { say(kOffender, 1, 1, "org.tmeter.flops" + std::string(1, 0) + "lied"); }},
    {"blame-and-exit",
     [] {
       say(kOffender, 1, 1, "org.tmeter.flops" + std::string(1, 0) + "lied");
       say(kFinished, 5, 0, "plugin org.tmeter.flops lied");
       _exit(0);
     }},
    {"frames", [] { flood([](uint64_t i) { say(kProgress, i, 0, "B"); }); }},
    {"offenders", [] { flood([](uint64_t i) { say(kOffender, 1, 1, distinct(i, 1000)); }); }},
    {"messages", [] { flood([](uint64_t i) { say(kMessage, 0, 0, distinct(i, 1 << 19)); }); }},
    {"short-messages", [] { flood([](uint64_t i) { say(kMessage, 0, 0, distinct(i, 10)); }); }},
    {"3-gigabytes",
     [] {
       for (uint64_t i = 0; i < 6000; ++i) say(kMessage, 0, 0, distinct(i, 1 << 19));
     }},
    {"print", [] { flood([](uint64_t i) { std::printf("%s\n", distinct(i, 100).c_str()); }); }},
    {"print-line", [] { flood([](uint64_t) { std::fputs("no end of line", stderr); }); }},
    {"timer", [] { set_timer(ITIMER_REAL); }},
    {"profiling-timer", [] { set_timer(ITIMER_PROF); }},
    {"posix-timer",
     [] {
       timer_t id;
       if (timer_create(CLOCK_MONOTONIC, nullptr, &id) != 0) return;
       const itimerspec soon{{0, 0}, {0, 20'000'000}};
       timer_settime(id, 0, &soon, nullptr);
     }},
    {"no-files", [] { limit(RLIMIT_NOFILE, 0); }},
    {"no-memory", [] { limit(RLIMIT_DATA, 1 << 20); }},
    {"no-time", [] { limit(RLIMIT_CPU, 3600); }},
    {"environment", [] { setenv("FORGER_WAS_HERE", "1", 1); }},
    {"sandbox-off", [] { setenv("TMETER_SANDBOX", "off", 1); }},
    {"page-of-ones", [] { write_over_shared_memory([] { return '\xff'; }); }},
    {"page-of-zeros", [] { write_over_shared_memory([] { return '\0'; }), std::abort(); }},
    {"page-of-letters", [] { write_over_shared_memory([] { return 'A'; }), std::abort(); }},
    {"page-of-noise",
     [] { write_over_shared_memory([] { return static_cast<char>(rand()); }), _exit(4); }},
    {"page-and-sleep", [] { write_over_shared_memory([] { return 'A'; }), sleep_for_ever(); }},
    {"accomplices", [] { flood([](uint64_t i) { say(kParticipant, 0, 0, distinct(i, 1000)); }); }},
    {"names-another",
     [] { say(kParticipant, 0, 0, "/x" + std::string(1, 0) + "org.tmeter.flops"), say(77); }},
    {"close-all",
     [] {
       for (int fd = 0; fd < 4096; ++fd) close(fd);
     }},
    // The C library notices at a later allocation of any caller.
    {"heap",
     [] {
       for (int size = 16; size < 1024; size += 16) {
         auto* block = static_cast<volatile char*>(std::malloc(static_cast<size_t>(size)));
         for (int i = -16; i < size + 256; ++i) block[i] = 0x41;
         std::free(const_cast<char*>(block));
       }
     }},
};

void misbehave(const char* where) {
  const char* forger = std::getenv("FORGER");
  const std::string wish = forger ? forger : "";
  if (!wish.starts_with(std::string(where) + ":")) return;
  kDeeds.at(wish.substr(wish.find(':') + 1))();
}

/// Runs in its `deinit`.
struct AtEnd {
  ~AtEnd() { misbehave("deinit"); }
};

}  // namespace

TMETER_PLUGIN_INFO((tmeter::PluginInfo{
                       .id = "com.forger.all", .version = "1.0.0", .name = "forger"}),
                   [](tmeter::Registrar& r) {
                     r.metric({.id = "forged",
                               .title = "forged",
                               .axis = TMETER_AXIS_NODE,
                               .convention = "1 per operator"});
                     const auto at_end = std::make_shared<AtEnd>();
                     r.op("*").handle("forged", [at_end](const tmeter::Node&) {
                       misbehave("metric");
                       return tmeter::Count(1);
                     });
                     r.analysis("forge", "", "",
                                [](const tmeter::Graph&, tmeter::Call&) { misbehave("analysis"); });
                     r.writer("forged", "txt", "text/plain",
                              [](const tmeter::Report&, tmeter::Output& out, tmeter::Call&) {
                                misbehave("writer");
                                out.write("written\n");
                              });
                   })
