#include "operators/limits.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tmeter::torch_backend {
namespace {

/// A model without weights may always take this much: LibTorch's code and objects, and the graph.
constexpr uint64_t kMinMemoryLimit = uint64_t{1} << 30;

Limits*& current_limits() {
  thread_local Limits* limits = nullptr;
  return limits;
}

/// Opened once, before the sandbox forbids opening files.
int memory_file() {
  static const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  return file;
}

/// Appends as much of `part` as fits.
template <size_t N>
size_t put(std::array<char, N>& text, size_t at, std::string_view part) {
  const auto size = std::min(part.size(), N - at);
  std::memcpy(text.data() + at, part.data(), size);
  return at + size;
}

}  // namespace

uint64_t own_memory() {
  std::array<char, 128> text{};
  const auto size = ::pread(memory_file(), text.data(), text.size(), 0);
  if (size <= 0) return 0;
  // "pages resident shared …"
  std::array<uint64_t, 3> pages{};
  const char* at = text.data();
  const char* const end = at + size;
  for (auto& number : pages) {
    at = std::find_if(at, end, [](char c) { return c >= '0' && c <= '9'; });
    at = std::from_chars(at, end, number).ptr;
  }
  static const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return pages[1] > pages[2] ? (pages[1] - pages[2]) * page : 0;
}

uint64_t memory_allowed(uint64_t requested) {
  const uint64_t used = own_memory();
  for (const auto resource : {RLIMIT_DATA, RLIMIT_AS}) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) continue;
    // An eighth is reserved for memory that the system counts and own_memory() does not.
    const uint64_t own = limit.rlim_cur / 8 * 7;
    requested = std::min(requested, own > used ? own - used : 0);
  }
  return requested;
}

Limits::Limits(const Call& call, std::string plugin)
    : call_(call),
      plugin_(std::move(plugin)),
      outer_(current_limits()),
      seconds_(call.option_float("timeout")),
      operators_(call.option_int("max-operators")),
      memory_(memory_allowed(
          std::max(kMinMemoryLimit, static_cast<uint64_t>(call.option_int("max-memory")) << 20))),
      memory_before_(own_memory()) {
  current_limits() = this;
}

Limits::~Limits() { current_limits() = outer_; }

Limits* Limits::current() { return current_limits(); }

double Limits::seconds_left() const {
  return seconds_ - std::chrono::duration<double>(Clock::now() - start_).count();
}

void Limits::check() {
  spent_ = 0;
  if (call_.cancelled()) stop(Error(TMETER_CANCELLED, "stopped by the user"));
  check_memory();
  if (seconds_left() > 0) return;
  stop({TMETER_CANNOT_RUN,
        "the model has run for " + std::to_string(static_cast<int64_t>(seconds_)) +
            " seconds without coming to an end (raise it with " + option("timeout") + "=N)"});
}

void Limits::stop(const Error& error) {
  if (!stopped_) stopped_ = std::make_exception_ptr(error);
  throw error;
}

void Limits::check_memory() {
  const uint64_t now = own_memory();
  if (now <= memory_before_ || now - memory_before_ <= memory_) return;
  stop({TMETER_CANNOT_RUN, "running the model has taken " +
                               std::to_string((now - memory_before_) >> 20) +
                               " MiB of memory, more than " + std::to_string(memory_ >> 20) +
                               " MiB (raise it with " + option("max-memory") + "=MiB)"});
}

void Limits::stop_operators() {
  stop({TMETER_CANNOT_RUN, "the model has run " + std::to_string(operators_) +
                               " operators without coming to an end (raise it with " +
                               option("max-operators") + "=N)"});
}

void Limits::stop_calls() {
  stop({TMETER_CANNOT_RUN,
        "the model has made " + std::to_string(kMaxCalls) + " calls without coming to an end"});
}

void Limits::at(std::string_view op, std::string_view module) const {
  std::array<char, 200> text;  // the host's limit
  size_t size = put(text, 0, op);
  if (!module.empty()) size = put(text, put(text, size, " of "), module);
  call_.at({text.data(), size});
}

int threads_that_start(unsigned requested) {
  std::vector<std::thread> threads;
  std::mutex all_started;
  {
    const std::lock_guard wait(all_started);
    try {
      while (threads.size() + 1 < requested)
        threads.emplace_back([&] { const std::lock_guard until(all_started); });
    } catch (const std::system_error&) {  // the limit is reached
    }
  }
  for (auto& thread : threads) thread.join();
  return static_cast<int>(threads.size()) + 1;
}

}  // namespace tmeter::torch_backend
