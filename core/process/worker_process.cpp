#include "core/process/worker_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/error.hpp"
#include "core/process/activity.hpp"
#include "core/process/event_loop.hpp"
#include "core/process/worker_memory.hpp"
#include "core/process/worker_start.hpp"

namespace tmeter::core {
namespace {

std::pair<Descriptor, Descriptor> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(ErrorKind::kRun, std::string("cannot start: pipe: ") + std::strerror(errno));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Enlarges a pipe, so that a report of a gigabyte takes fewer switches between the processes.
/// Keeps the size if that is not permitted.
void enlarge_pipe(const Descriptor& pipe) {
  constexpr int kBytes = 1 << 20;  // the kernel's limit for unprivileged users
  fcntl(pipe.get(), F_SETPIPE_SZ, kBytes);
}

}  // namespace

WorkerProcess::WorkerProcess(const Job& job, const Work& work, const EndSignals& signals,
                             const std::vector<Excluded>& excluded, bool checks_process_state) {
  auto [frames_in, frames_out] = make_pipe();
  enlarge_pipe(frames_out);
  auto [stray_in, stray_out] = make_pipe();
  share_activity();
  activity().checks_process_state = checks_process_state;
  process_ = fork();
  if (process_ < 0) {
    throw Error(ErrorKind::kRun, std::string("no process can be started (fork: ") +
                                     std::strerror(errno) + "); see `ulimit -u`");
  }
  if (process_ == 0) {
    signals.restore_in_child();
    become_worker({frames_out.get(), stray_out.get(), job.limits.memory, &long_reports_}, work,
                  excluded);
  }
  frames_ = std::move(frames_in);
  stray_ = std::move(stray_in);
  for (const auto* end : {&frames_, &stray_}) fcntl(end->get(), F_SETFL, O_NONBLOCK);
}

/// A process that the kernel cannot end (a disk does not answer) is not waited for any further.
WorkerProcess::~WorkerProcess() {
  constexpr double kMaxWait = 0.3;
  if (process_ < 0 || has_ended()) return;
  end();
  const auto until = in_seconds(kMaxWait);
  while (!has_ended() && Clock::now() < until) usleep(1000);
}

void WorkerProcess::request_stop() const { kill(process_, SIGINT); }

void WorkerProcess::end() const {
  if (ended_) return;
  kill(-process_, SIGKILL);  // if it has a process group of its own
  kill(process_, SIGKILL);
}

bool WorkerProcess::has_ended() {
  if (!ended_) ended_ = waitpid(process_, &wait_status_, WNOHANG) == process_;
  return ended_;
}

uint64_t WorkerProcess::memory() const { return ended_ ? 0 : worker_memory(process_); }

}  // namespace tmeter::core
