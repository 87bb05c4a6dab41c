#include "core/process/process_state_snapshot.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cfenv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <locale>
#include <map>
#include <string_view>
#include <thread>

#include "core/base/descriptor.hpp"
#include "core/base/text.hpp"
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tmeter::core {
namespace {

#if defined(__x86_64__)
/// The sticky exception flags. They are left out, because every inexact result changes them.
constexpr uint32_t kSseFlags = 0x3f;

uint64_t control_word() {
  uint16_t x87 = 0;
  __asm__ volatile("fnstcw %0" : "=m"(x87));
  return uint64_t{_mm_getcsr() & ~kSseFlags} << 16 | x87;
}

void set_control_word(uint64_t word) {
  const auto x87 = static_cast<uint16_t>(word);
  _mm_setcsr(static_cast<uint32_t>(word >> 16));
  __asm__ volatile("fldcw %0" : : "m"(x87));
}
#elif defined(__aarch64__)
uint64_t control_word() {
  uint64_t word = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(word));
  return word;
}

void set_control_word(uint64_t word) { __asm__ volatile("msr fpcr, %0" : : "r"(word)); }
#else
uint64_t control_word() { return static_cast<uint64_t>(std::fegetround()); }
void set_control_word(uint64_t word) { std::fesetround(static_cast<int>(word)); }
#endif

/// The C library sets this flag whenever a handler is set, including a restored one.
constexpr int kRestorer = 0x04000000;

bool has_c_numeric_locale() {
  return std::strcmp(setlocale(LC_NUMERIC, nullptr), "C") == 0 &&
         std::locale() == std::locale::classic();
}

std::set<pid_t> threads_now() {
#if defined(__SANITIZE_THREAD__)
  // ThreadSanitizer adds a thread of its own when a process starts its first one.
  static const bool has_started_one = (std::thread([] {}).join(), true);
  static_cast<void>(has_started_one);
#endif
  std::set<pid_t> out;
  DIR* folder = opendir("/proc/self/task");
  if (!folder) return out;
  while (const auto* entry = readdir(folder)) {
    if (const int id = std::atoi(entry->d_name); id > 0) out.insert(id);
  }
  closedir(folder);
  return out;
}

uint64_t blocked_now() {
  sigset_t set;
  uint64_t bits = 0;
  pthread_sigmask(SIG_BLOCK, nullptr, &set);
  for (int s = 1; s < 64; ++s) bits |= uint64_t{sigismember(&set, s) == 1} << s;
  return bits;
}

std::array<uint64_t, 2 * RLIM_NLIMITS> limits_now() {
  std::array<uint64_t, 2 * RLIM_NLIMITS> out{};
  for (unsigned i = 0; i < RLIM_NLIMITS; ++i) {
    rlimit limit{};
    if (getrlimit(static_cast<__rlimit_resource>(i), &limit) != 0) continue;
    out[2 * i] = limit.rlim_cur;
    out[2 * i + 1] = limit.rlim_max;
  }
  return out;
}

/// False where the sandbox permits neither to set timers and limits nor to look at timers
/// (system_calls.hpp).
bool may_set_timers_and_limits() {
  itimerval timer{};
  return getitimer(ITIMER_REAL, &timer) == 0 || errno != ENOSYS;
}

/// The running timers: one letter each for setitimer, the kernel's list for timer_create.
std::string timers_now() {
  std::string out;
  for (const auto which : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
    itimerval timer{};
    const bool runs =
        getitimer(which, &timer) == 0 && (timer.it_value.tv_sec || timer.it_value.tv_usec);
    out += runs ? 't' : '-';
  }
  const Descriptor file(open("/proc/self/timers", O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> text{};
  const auto size = file.get() < 0 ? -1 : read(file.get(), text.data(), text.size());
  return size > 0 ? out.append(text.data(), static_cast<size_t>(size)) : out;
}

/// All variables but the one that the OpenMP libraries of LLVM and Intel set once per process.
std::string environment_now() {
  std::string out;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with("__KMP_REGISTERED_LIB_")) out.append(text).push_back('\0');
  }
  return out;
}

std::map<std::string, std::string> variables(const std::string& environment) {
  std::map<std::string, std::string> out;
  for (size_t at = 0; at < environment.size();) {
    const std::string entry = environment.c_str() + at;
    const auto name = entry.substr(0, entry.find('='));
    out.emplace(name, entry.substr(name.size()));
    at += entry.size() + 1;
  }
  return out;
}

/// The first variable that differs; empty if all are equal, in any order.
std::string changed_variable(const std::string& before_text, const std::string& after_text) {
  if (before_text == after_text) return {};
  const auto before = variables(before_text), after = variables(after_text);
  for (const auto* side : {&before, &after}) {
    const auto& other = side == &before ? after : before;
    for (const auto& [name, value] : *side) {
      const auto at = other.find(name);
      if (at == other.end() || at->second != value) return name;
    }
  }
  return {};
}

mode_t mask_now() {
  const mode_t mask = umask(077);
  umask(mask);
  return mask;
}

}  // namespace

Arithmetic Arithmetic::now() {
  return {control_word(), static_cast<void*>(uselocale(nullptr)), has_c_numeric_locale()};
}

void Arithmetic::restore() const {
  set_control_word(control);
  uselocale(static_cast<locale_t>(thread_locale));
  if (c_numbers && !has_c_numeric_locale()) {
    setlocale(LC_ALL, "C");
    std::locale::global(std::locale::classic());
  }
}

std::string Arithmetic::change_to(const Arithmetic& after) const {
  if (after.control != control)
    return "it changed how the processor computes (rounding, denormal numbers or traps)";
  if (after.thread_locale != thread_locale || after.c_numbers != c_numbers)
    return "it changed the locale";
  return {};
}

ProcessStateSnapshot ProcessStateSnapshot::now() {
  ProcessStateSnapshot s;
  s.arithmetic_ = Arithmetic::now();
  s.locale_ = setlocale(LC_ALL, nullptr);
  struct stat folder {};
  if (stat(".", &folder) == 0) s.folder_device_ = folder.st_dev, s.folder_ = folder.st_ino;
  s.mask_ = mask_now();
  for (int number = 1; number < kSignals; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0) continue;
    s.handlers_[static_cast<size_t>(number)] = {action.sa_handler, action.sa_flags & ~kRestorer};
  }
  s.blocked_ = blocked_now();
  if (may_set_timers_and_limits()) s.limits_ = limits_now(), s.timers_ = timers_now();
  s.environment_ = environment_now();
  s.threads_ = threads_now();
  return s;
}

/// A joined thread may take a while to leave the kernel on a busy machine.
bool ProcessStateSnapshot::left_a_thread(const std::set<pid_t>& before) {
  constexpr auto kMaxWait = std::chrono::seconds(1);
  const auto until = std::chrono::steady_clock::now() + kMaxWait;
  do {
    const auto now = threads_now();
    if (std::includes(before.begin(), before.end(), now.begin(), now.end())) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } while (std::chrono::steady_clock::now() < until);
  return true;
}

std::string ProcessStateSnapshot::change_since(bool threads_may_stay) const {
  const auto after = now();
  if (const auto words = arithmetic_.change_to(after.arithmetic_); !words.empty()) return words;
  if (after.locale_ != locale_) return "it changed the locale";
  if (after.folder_ != folder_ || after.folder_device_ != folder_device_)
    return "it changed the working directory";
  if (after.mask_ != mask_) return "it changed the umask";
  for (size_t number = 1; number < handlers_.size(); ++number) {
    if (after.handlers_[number] != handlers_[number])
      return "it changed what happens at signal " + std::to_string(number) + " (" +
             strsignal(static_cast<int>(number)) + ")";
  }
  if (after.blocked_ != blocked_) return "it changed which signals are blocked";
  if (after.timers_ != timers_) return "it left a timer running";
  if (after.limits_ != limits_) return "it changed the limits of the process's resources";
  if (const auto name = changed_variable(environment_, after.environment_); !name.empty())
    return "it changed the environment variable " + printable(name);
  if (!threads_may_stay && after.threads_.size() > threads_.size() && left_a_thread(threads_))
    return "it left a thread running";
  return {};
}

}  // namespace tmeter::core
