#include "core/process/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "core/base/descriptor.hpp"
#include "core/base/error.hpp"
#include "core/process/activity.hpp"
#include "core/process/outputs.hpp"
#include "core/process/stray_output.hpp"
#include "core/process/terminal.hpp"
#include "core/process/verdict.hpp"
#include "core/process/worker_start.hpp"

namespace tmeter::core {
namespace {
using Clock = std::chrono::steady_clock;

constexpr auto kMemoryInterval = std::chrono::milliseconds(50);
constexpr auto kGrace = std::chrono::seconds(1);         // after Ctrl-C
constexpr auto kGraceOfRuns = std::chrono::seconds(10);  // what was measured is written
constexpr double kSecondTry = 1;  // seconds, when the first one took all the time
constexpr size_t kMostAttempts = 8;

Clock::time_point after(double seconds, Clock::time_point start = Clock::now()) {
  return start +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

std::pair<Descriptor, Descriptor> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(ErrorKind::kRun, std::string("cannot start: pipe: ") + std::strerror(errno));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// A report of a gigabyte goes through it: fewer turns of both processes. As it is, if it may not
/// grow.
void make_roomy(const Descriptor& pipe) {
  constexpr int kBytes = 1 << 20;  // what everybody may have
  fcntl(pipe.get(), F_SETPIPE_SZ, kBytes);
}

/// Signals that end a program, taken as data: no file is left half-written by them.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&set_, s);
    sigprocmask(SIG_BLOCK, &set_, &before_);
    fd_ = Descriptor(signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
    ::signal(SIGXFSZ, SIG_IGN);  // writing fails instead, with words
  }
  int fd() const { return fd_.get(); }
  const sigset_t& before() const { return before_; }
  bool take() const {
    signalfd_siginfo info{};
    return ::read(fd_.get(), &info, sizeof info) == sizeof info;
  }

 private:
  sigset_t set_{}, before_{};
  Descriptor fd_;
};

/// One worker, from its fork to its end.
class Attempt {
 public:
  Attempt(const Job& job, const Work& work, Signals& signals, Terminal& terminal,
          const std::vector<Excluded>& excluded, bool watchful, Clock::time_point deadline)
      : job_(job), signals_(signals), terminal_(terminal), deadline_(deadline), stray_(job.quiet) {
    start(work, excluded, watchful);
  }
  ~Attempt() { end_worker(); }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  Ending run() {
    Outputs outputs(job_.targets);
    outputs_ = &outputs;
    watch();
    end_worker();
    terminal_.clear_progress();
    if (failure_) throw Error(*failure_);
    const bool kept = interrupted_ && ending_ && ending_->status == kInterruptedStatus;
    if (interrupted_ && !(kept && ending_->reports_stand)) {
      const bool told = ending_ && !ending_->message.empty();
      return {kInterruptedStatus, told ? ending_->message : kInterruptedWords, false, {}};
    }
    if (!ending_) return judge(activity(), {ended_by_, wait_status_, limit_, job_.subject});
    if (ending_->status == 0 || ending_->reports_stand) outputs.commit();
    return *ending_;
  }

 private:
  static constexpr int kInterruptedStatus = static_cast<int>(ErrorKind::kInterrupted);
  static constexpr const char* kInterruptedWords = "interrupted; nothing written";

  void start(const Work& work, const std::vector<Excluded>& excluded, bool watchful) {
    auto [frames_in, frames_out] = make_pipe();
    make_roomy(frames_out);
    auto [stray_in, stray_out] = make_pipe();
    share_activity();
    activity().watchful = watchful;
    worker_ = fork();
    if (worker_ < 0) {
      throw Error(ErrorKind::kRun, std::string("no process can be started (fork: ") +
                                       std::strerror(errno) + "); see `ulimit -u`");
    }
    if (worker_ == 0) {
      become_worker({frames_out.get(), stray_out.get(), signals_.before(), job_.limits.memory,
                     &long_reports_},
                    work, excluded);
    }
    frames_fd_ = std::move(frames_in);
    stray_fd_ = std::move(stray_in);
    fcntl(stray_fd_.get(), F_SETFL, O_NONBLOCK);
    frames_ = FrameReader(frames_fd_.get());
  }

  void watch() {
    std::array<pollfd, 3> fds{
        {{frames_fd_.get(), POLLIN, 0}, {stray_fd_.get(), POLLIN, 0}, {signals_.fd(), POLLIN, 0}}};
    while (!ending_ && ended_by_ == EndedBy::kItself) {
      const int n = poll(fds.data(), fds.size(), wait_milliseconds());
      if (n < 0 && errno != EINTR) return;
      if (n > 0 && fds[2].revents) on_signal();
      if (n > 0 && fds[1].revents && !stray_.read(stray_fd_.get(), terminal_)) fds[1].fd = -1;
      if (n > 0 && fds[0].revents && !read_frames()) return;
      if (failure_ || over_a_limit()) return;
    }
  }

  int wait_milliseconds() const {
    auto until = Clock::now() + kMemoryInterval;
    if (until > deadline_) until = deadline_;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    return static_cast<int>(left > 0 ? left : 0);
  }

  bool read_frames() {
    try {
      if (frames_.read([&](const Frame& f) { on_frame(f); })) return true;
      if (frames_.broken()) ended_by_ = EndedBy::kBadFrame;
      hung_up_ = !frames_.broken();
      return false;
    } catch (const Error& e) {
      failure_ = e;
      return false;
    }
  }

  void on_frame(const Frame& f) {
    switch (f.kind) {
      case FrameKind::kMessage:
        terminal_.message(f.text);
        break;
      case FrameKind::kProgress:
        terminal_.progress(f.numbers[0], f.numbers[1], f.text);
        break;
      case FrameKind::kProgressEnded:
        terminal_.clear_progress();
        break;
      case FrameKind::kRunsFile:
        running_file_ = !f.text.empty();
        running_since_ = Clock::now();
        break;
      case FrameKind::kRunsModel:
        // What was measured before Ctrl-C is worth its report.
        grace_ = kGraceOfRuns;
        break;
      case FrameKind::kReport:
        outputs_->write(f.numbers[0], f.text);
        break;
      case FrameKind::kLongReport:
        write_long(f);
        break;
      case FrameKind::kOffender:
        offender_ = offender_of(f);
        break;
      case FrameKind::kFinished:
        ending_ = Ending{static_cast<int>(f.numbers[0] & 0xff), std::string(f.text),
                         f.numbers[1] != 0, std::move(offender_)};
        outputs_->push();
        break;
    }
  }

  void write_long(const Frame& f) {
    const auto bytes = long_reports_.at(f.numbers[1]);
    if (!bytes) throw Error(ErrorKind::kInternal, "a report without bytes");
    outputs_->write(f.numbers[0], *bytes);
    long_reports_.release();
  }

  static Excluded offender_of(const Frame& f) {
    const auto name = f.text.substr(0, f.text.find('\0'));
    const auto reason = name.size() < f.text.size() ? f.text.substr(name.size() + 1) : "";
    return {std::string(name), std::string(reason), f.numbers[0] != 0, f.numbers[1] != 0};
  }

  /// The first one asks the worker to stop; another, or too long a wait, makes it.
  void on_signal() {
    if (!signals_.take()) return;
    if (interrupted_) deadline_ = Clock::now();
    if (!interrupted_) deadline_ = std::min(deadline_, Clock::now() + grace_);
    interrupted_ = true;
    kill(worker_, SIGINT);
  }

  bool over_a_limit() {
    const auto now = Clock::now();
    const auto running = after_running();
    if (now >= deadline_ || now >= running) {
      ended_by_ = EndedBy::kTimeout;
      const bool whole = now >= deadline_;
      limit_ = seconds_text(whole && job_.limits.timeout > 0 ? job_.limits.timeout
                                                             : job_.limits.running_file) +
               " (--timeout)";
    } else if (now >= next_look_) {
      next_look_ = now + kMemoryInterval;
      if (own_memory(worker_) > job_.limits.memory) {
        ended_by_ = EndedBy::kMemory;
        limit_ = bytes_text(job_.limits.memory) + " (--max-memory)";
      }
    }
    return ended_by_ != EndedBy::kItself;
  }

  Clock::time_point after_running() const {
    if (!running_file_ || job_.limits.timeout > 0) return Clock::time_point::max();
    return after(job_.limits.running_file, running_since_);
  }

  /// Its connection is closed, mostly because it has ended; giving memory back can take a while.
  bool ends_by_itself() {
    const auto until = Clock::now() + kGrace;
    while (Clock::now() < until) {
      const auto ended = waitpid(worker_, &wait_status_, WNOHANG);
      if (ended == worker_) return worker_ = -1, true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  /// What it still said is read, then it is gone.
  void end_worker() {
    if (worker_ <= 0) return;
    if (hung_up_ && !interrupted_ && !ends_by_itself()) ended_by_ = EndedBy::kBadFrame;
    if (worker_ > 0 && !ending_) kill(worker_, SIGKILL);
    while (worker_ > 0 && waitpid(worker_, &wait_status_, 0) < 0 && errno == EINTR) {
    }
    worker_ = -1;
    stray_.finish(stray_fd_.get(), terminal_);
  }

  const Job& job_;
  Signals& signals_;
  Terminal& terminal_;
  Clock::time_point deadline_, running_since_{}, next_look_ = Clock::now() + kMemoryInterval;
  StrayOutput stray_;
  pid_t worker_ = -1;
  int wait_status_ = 0;
  Descriptor frames_fd_, stray_fd_;
  FrameReader frames_{-1};
  Outputs* outputs_ = nullptr;
  ReportMemory long_reports_;
  std::optional<Ending> ending_;
  std::optional<Excluded> offender_;
  std::optional<Error> failure_;
  EndedBy ended_by_ = EndedBy::kItself;
  std::string limit_;
  Clock::duration grace_ = kGrace;
  bool running_file_ = false, interrupted_ = false, hung_up_ = false;
};

/// Whether leaving out the one who failed now may help: it has not been left out before.
bool is_new(const std::vector<Excluded>& excluded, const Excluded& offender) {
  return excluded.size() + 1 < kMostAttempts &&
         std::none_of(excluded.begin(), excluded.end(),
                      [&](const Excluded& e) { return e.plugin == offender.plugin; });
}

/// What the run came to: a plugin that somebody asked for and that failed makes it 5.
int final_status(const std::vector<Excluded>& excluded, const Ending& last) {
  const bool failed =
      std::any_of(excluded.begin(), excluded.end(), [](const Excluded& e) { return e.asked; });
  return failed && last.status == 0 ? static_cast<int>(ErrorKind::kPlugin) : last.status;
}

/// One line; no more than a note about a plugin that nobody asked for.
void tell(const Job& job, const Ending& ending, Terminal& terminal) {
  if (ending.message.empty()) return;
  const bool note = ending.offender && !ending.offender->asked;
  if (!note) return terminal.message(ending.message);
  if (!job.quiet) terminal.message("note: " + ending.message + "; it is left out");
}

}  // namespace

int supervise(const Job& job, const Work& work) {
  Signals signals;
  Terminal terminal(!job.quiet);
  std::vector<Excluded> excluded;
  bool watchful = false;
  auto deadline = job.limits.timeout > 0 ? after(job.limits.timeout) : Clock::time_point::max();
  for (;;) {
    Attempt attempt(job, work, signals, terminal, excluded, watchful, deadline);
    const auto ending = attempt.run();
    const bool unknown = ending.offender && ending.offender->plugin.empty();
    if (unknown && !watchful) {  // once more, to see who it is
      watchful = true;
      continue;
    }
    tell(job, ending, terminal);
    if (!ending.offender || unknown || !is_new(excluded, *ending.offender))
      return final_status(excluded, ending);
    excluded.push_back(*ending.offender);
    if (Clock::now() + std::chrono::milliseconds(100) > deadline) deadline = after(kSecondTry);
  }
}

int supervise_command(const std::string& target, const Work& work) {
  Job job;
  job.targets = {target};
  job.limits.memory = default_max_memory();
  return supervise(job, work);
}

}  // namespace tmeter::core
