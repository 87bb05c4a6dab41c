#include "core/process/worker_start.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>

#include "core/base/error.hpp"
#include "core/base/interrupt.hpp"
#include "core/base/mapped_file.hpp"
#include "core/process/activity.hpp"
#include "core/process/limits.hpp"
#include "core/process/stdio_attribution.hpp"

namespace tmeter::core {
namespace {

/// Notes the thread, then lets the signal end the process, on return. Only async-signal-safe calls.
/// Where the stack has overflowed it cannot run, and the signal ends the process at once.
void on_crash(int number) {
  auto& a = activity();
  const auto offset = &activity_slot() - a.slots.data();
  int32_t none = -1;
  a.crashed_slot.compare_exchange_strong(none, static_cast<int32_t>(offset));
  ::signal(number, SIG_DFL);
  raise(number);
}

void record_fatal_message(std::string_view message) { activity().fatal_message.set(message); }

void explain_crashes() {
  set_lost_file_handler(record_fatal_message);
  struct sigaction action {};
  action.sa_handler = on_crash;
  for (const int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS})
    sigaction(s, &action, nullptr);
}

/// Closes the terminal and all files of the user. Returns the new number of the pipe to the
/// supervisor, above the small numbers that careless code closes or writes to.
int replace_descriptors(const WorkerStart& start) {
  constexpr int kMinDescriptor = 900;
  std::array<int, 2> nothing{-1, -1};  // not /dev/null, which a small container lacks
  if (pipe2(nothing.data(), O_CLOEXEC) == 0) dup2(nothing[0], STDIN_FILENO);
  dup2(start.stray, STDOUT_FILENO);
  dup2(start.stray, STDERR_FILENO);
  set_stdio_pipe(STDERR_FILENO);
  // Unbuffered, because this process ends without flushing buffers.
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  const int moved = fcntl(start.frames, F_DUPFD_CLOEXEC, kMinDescriptor);
  const auto kept = static_cast<unsigned>(moved >= 0 ? moved : start.frames);
  if (kept > 3) close_range(3, kept - 1, 0);
  close_range(kept + 1, ~0U, 0);
  return static_cast<int>(kept);
}

Outcome work_and_catch(Worker& worker, const Work& work) {
  const auto status = [](ErrorKind kind) { return static_cast<int>(kind); };
  try {
    return work(worker);
  } catch (const PluginError& e) {
    return {e.exit_status(), e.what(), false,
            Excluded{e.plugin(), e.reason(), e.opened(), e.requested()}};
  } catch (const Error& e) {
    // Reports are complete although an assertion does not hold.
    return {e.exit_status(), e.what(), e.kind() == ErrorKind::kAssertion, {}};
  } catch (const std::bad_alloc&) {
    return {status(ErrorKind::kModel), out_of_memory_text(), false, {}};
  } catch (const std::exception& e) {
    return {status(ErrorKind::kInternal), std::string("internal error: ") + e.what(), false, {}};
  } catch (...) {
    return {status(ErrorKind::kInternal), "internal error: an unknown exception", false, {}};
  }
}

}  // namespace

void become_worker(const WorkerStart& start, const Work& work,
                   const std::vector<Excluded>& excluded) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setsid();  // no terminal to type into: Ctrl-C reaches the supervisor, which passes it on
  const int frames = replace_descriptors(start);
  explain_crashes();
  Interrupt interrupt;
  Worker worker(frames, excluded, start.reports);
  limit_memory(start.memory);
  const auto outcome = work_and_catch(worker, work);
  if (outcome.status != 0 && !has_memory_left()) activity().no_memory_left = true;
  worker.finish(outcome);
  // Not `exit`: LibTorch's static destructors alone would take 65 ms (docs/benchmarks.md).
  _exit(0);
}

}  // namespace tmeter::core
