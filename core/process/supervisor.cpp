#include "core/process/supervisor.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "core/base/error.hpp"
#include "core/process/activity.hpp"
#include "core/process/descendants.hpp"
#include "core/process/end_signals.hpp"
#include "core/process/event_loop.hpp"
#include "core/process/frame_validator.hpp"
#include "core/process/outputs.hpp"
#include "core/process/sandbox.hpp"
#include "core/process/stray_output.hpp"
#include "core/process/terminal.hpp"
#include "core/process/worker_exit.hpp"
#include "core/process/worker_process.hpp"

namespace tmeter::core {
namespace {
namespace fs = std::filesystem;

constexpr auto kMemoryInterval = std::chrono::milliseconds(50);
constexpr double kInterruptGrace = 0.7;   // seconds for a worker after Ctrl-C
constexpr double kMeasurementGrace = 10;  // to write the measurements so far
constexpr double kMessageGrace = 0.2;
constexpr double kHangUpGrace = 1;    // giving memory back can take a while
constexpr double kShutdownLimit = 5;  // for plugins' ends, and for the worker's own
constexpr double kKillWait = 0.5;     // for a worker that has been killed
constexpr double kMinRetryTime = 1;   // when the first one took all the time
constexpr size_t kMaxAttempts = 8;
constexpr auto kForever = Clock::time_point::max();
constexpr int kInterruptedStatus = static_cast<int>(ErrorKind::kInterrupted);

/// The time and the signals of a whole run.
struct RunControl {
  explicit RunControl(double timeout) : deadline(timeout > 0 ? in_seconds(timeout) : kForever) {}
  EndSignals signals;
  Clock::time_point deadline;
  bool interrupted = false;

  bool is_over() const { return Clock::now() >= deadline; }
  /// Whether a signal came that ends the run. SIGCHLD only wakes the loop up.
  bool take_signals() {
    bool end_requested = false;
    while (const auto number = signals.take()) end_requested = end_requested || *number != SIGCHLD;
    return end_requested;
  }
};

/// Bytes of the model's files: one file, or all of a folder or beside an index of shards.
uintmax_t size_of_model(const std::string& path) {
  std::error_code failed;
  const auto size_of = [&](const fs::path& file) -> uintmax_t {
    const auto size = fs::is_regular_file(file, failed) ? fs::file_size(file, failed) : 0;
    return failed ? 0 : size;
  };
  const bool is_folder = fs::is_directory(path, failed);
  if (!is_folder && !path.ends_with(".index.json")) return size_of(path);
  uintmax_t total = 0;
  const auto folder = is_folder ? fs::path(path) : fs::absolute(path, failed).parent_path();
  for (fs::directory_iterator file(folder, failed), end; file != end; file.increment(failed))
    total += size_of(file->path());
  return total;
}

/// One worker, from its fork to its end.
class Attempt {
 public:
  Attempt(const Job& job, const Work& work, RunControl& control, Terminal& terminal,
          Outputs& outputs, const std::vector<Excluded>& excluded, bool checks_process_state)
      : job_(job),
        control_(control),
        terminal_(terminal),
        outputs_(outputs),
        stray_(job.quiet),
        size_(size_of_model(job.subject)),
        worker_(job, work, control.signals, excluded, checks_process_state),
        frames_(worker_.frames()),
        validator_(job.runs_model) {}

  Outcome run() {
    outputs_.begin();
    while (!worker_.has_ended() && Clock::now() < kill_deadline_) {
      turn();
      check_limits();
    }
    if (exit_cause_ == ExitCause::kItself) read_rest();
    stray_.finish(worker_.stray_output(), terminal_);
    terminal_.clear_progress();
    return outcome();
  }

 private:
  /// The supervisor's own finding takes precedence over the worker's message.
  Outcome outcome() {
    const bool exited = WIFEXITED(worker_.wait_status()) && WEXITSTATUS(worker_.wait_status()) == 0;
    const bool is_credible =
        reported_ && exit_cause_ == ExitCause::kItself && exited && !is_inside_plugin(activity());
    if (control_.interrupted) {
      const bool answered = is_credible && reported_->status == kInterruptedStatus;
      if (answered && reported_->reports_stand) return *reported_;
      const bool has_message = answered && !reported_->message.empty();
      return {kInterruptedStatus, has_message ? reported_->message : kInterruptedWords, false, {}};
    }
    if (is_credible) return explain_failure(activity(), *reported_, participants_);
    if (reported_ && exit_cause_ == ExitCause::kItself)
      end_by(ExitCause::kContract, "it ended abnormally");
    return explain_worker_exit(activity(),
                               {exit_cause_, worker_.wait_status(), limit_, job_.subject, engine_,
                                participants_, size_of_model(job_.subject) < size_});
  }

  void turn() {
    std::vector<PolledDescriptor> watched{
        {control_.signals.fd(), POLLIN, [this] { on_signal(); }},
        {stray_fd_ ? worker_.stray_output() : -1, POLLIN,
         [this] { stray_fd_ = stray_.read(worker_.stray_output(), terminal_); }},
        {hung_up_ ? -1 : worker_.frames(), POLLIN, [this] { read_frames(); }}};
    if (terminal_.pending())
      watched.push_back({terminal_.fd(), POLLOUT, [this] { terminal_.flush(); }});
    auto until = Clock::now() + kMemoryInterval;
    if (exit_cause_ == ExitCause::kItself)
      until = std::min({until, control_.deadline, exit_deadline_});
    wait_for(watched, until);
  }

  void read_frames() {
    if (exit_cause_ != ExitCause::kItself) return;
    if (frames_.read([&](const Frame& f) { on_frame(f); })) return;
    hung_up_ = true;
    if (frames_.broken()) return end_by(ExitCause::kBadFrame);
    if (!reported_) exit_deadline_ = in_seconds(kHangUpGrace);
  }

  /// Reads the frames sent just before the worker's end. Bounded, because a process it left behind
  /// may write for ever.
  void read_rest() {
    constexpr int kMaxReads = 4;  // a pipe and more
    for (int i = 0; i < kMaxReads && !hung_up_; ++i) read_frames();
  }

  void on_frame(const Frame& f) {
    if (exit_cause_ != ExitCause::kItself) return;
    const auto defect = validator_.defect(f, outputs_, worker_.long_reports());
    if (!defect.empty()) return end_by(ExitCause::kContract, defect);
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
      case FrameKind::kParticipant:
        participants_.push_back(participant_of(f));
        break;
      case FrameKind::kRunsFile:
        engine_ = f.text;
        file_deadline_ = f.text.empty() || job_.limits.timeout > 0
                             ? kForever
                             : in_seconds(job_.limits.running_file);
        break;
      case FrameKind::kRunsModel:
        engine_ = f.text;
        grace_ = kMeasurementGrace;
        break;
      case FrameKind::kReport:
        outputs_.write(f.numbers[0], f.text);
        break;
      case FrameKind::kLongReport:
        outputs_.write(f.numbers[0], *worker_.long_reports().at(f.numbers[1]));
        worker_.long_reports().release();
        break;
      case FrameKind::kReportWhole:
        outputs_.set_whole(f.numbers[0]);
        break;
      case FrameKind::kOffender:
        offender_ = offender_of(f);
        break;
      case FrameKind::kFinished:
        reported_ = Outcome{static_cast<int>(f.numbers[0]), std::string(f.text), f.numbers[1] != 0,
                            std::move(offender_)};
        exit_deadline_ = in_seconds(kShutdownLimit);
        outputs_.push();
        break;
    }
  }

  static Participant participant_of(const Frame& f) {
    const auto library = f.text.substr(0, f.text.find('\0'));
    const auto id = library.size() < f.text.size() ? f.text.substr(library.size() + 1) : "";
    return {std::string(library), std::string(id)};
  }

  static Excluded offender_of(const Frame& f) {
    const auto name = f.text.substr(0, f.text.find('\0'));
    const auto reason = name.size() < f.text.size() ? f.text.substr(name.size() + 1) : "";
    return {std::string(name), std::string(reason), f.numbers[0] != 0, f.numbers[1] != 0};
  }

  /// The first signal asks the worker to stop; a second one, or too long a wait, ends it.
  void on_signal() {
    if (!control_.take_signals()) return;
    const bool again = std::exchange(control_.interrupted, true);
    if (again || reported_) return end_by(ExitCause::kTimeout);
    control_.deadline = std::min(control_.deadline, in_seconds(grace_));
    worker_.request_stop();
  }

  void check_limits() {
    const auto now = Clock::now();
    const bool ending_plugins = activity().stage == Stage::kEnding;
    if (!ending_plugins) plugin_end_deadline_ = kForever;
    if (ending_plugins && plugin_end_deadline_ == kForever)
      plugin_end_deadline_ = in_seconds(kShutdownLimit);
    if (now >= control_.deadline) {
      const bool has_timeout = job_.limits.timeout > 0;
      end_by(ExitCause::kTimeout,
             seconds_text(has_timeout ? job_.limits.timeout : kShutdownLimit) + " (--timeout)");
    } else if (now >= file_deadline_) {
      end_by(ExitCause::kTimeout, seconds_text(job_.limits.running_file) + " (--timeout)");
    } else if (now >= plugin_end_deadline_) {
      end_by(ExitCause::kTimeout, seconds_text(kShutdownLimit));
    } else if (now >= exit_deadline_) {
      end_by(reported_ ? ExitCause::kLingering : ExitCause::kBadFrame,
             seconds_text(kShutdownLimit));
    } else if (now >= next_memory_check_) {
      next_memory_check_ = now + kMemoryInterval;
      if (worker_.memory() > job_.limits.memory)
        end_by(ExitCause::kMemory, bytes_text(job_.limits.memory) + " (--max-memory)");
    }
  }

  /// The first reason is kept.
  void end_by(ExitCause reason, const std::string& limit = {}) {
    worker_.end();
    if (exit_cause_ != ExitCause::kItself) return;
    exit_cause_ = reason;
    limit_ = limit;
    kill_deadline_ = in_seconds(kKillWait);
  }

  const Job& job_;
  RunControl& control_;
  Terminal& terminal_;
  Outputs& outputs_;
  StrayOutput stray_;
  uintmax_t size_;  // of the model when the worker began
  WorkerProcess worker_;
  FrameReader frames_;
  FrameValidator validator_;
  std::optional<Outcome> reported_;
  std::optional<Excluded> offender_;
  std::vector<Participant> participants_;
  std::string engine_;  // runs code of the file or the model just now
  ExitCause exit_cause_ = ExitCause::kItself;
  std::string limit_;
  Clock::time_point next_memory_check_ = Clock::now() + kMemoryInterval;
  Clock::time_point file_deadline_ = kForever, plugin_end_deadline_ = kForever,
                    exit_deadline_ = kForever;
  Clock::time_point kill_deadline_ = kForever;  // waits for a process that survives SIGKILL
  double grace_ = kInterruptGrace;
  bool hung_up_ = false, stray_fd_ = true;
};

/// True if the offender has not been left out before, so that another attempt may help.
bool is_new(const std::vector<Excluded>& excluded, const Excluded& offender) {
  return std::none_of(excluded.begin(), excluded.end(),
                      [&](const Excluded& e) { return e.plugin == offender.plugin; });
}

/// A whole run: attempts until one succeeds or no plugin is left to leave out, then the output.
class Supervisor {
 public:
  Supervisor(const Job& job, const Work& work)
      : job_(job), work_(work), control_(job.limits.timeout), terminal_(!job.quiet) {}

  int run() {
    int status = 0;
    try {
      outputs_.emplace(job_.targets);
      status = attempts();
    } catch (const Error& e) {
      terminal_.last_message(e.what());
      status = e.exit_status();
    } catch (const BrokenPipe&) {
      control_.signals.end_by_broken_pipe();
      terminal_.last_message("standard output cannot be written: Broken pipe");
      status = static_cast<int>(ErrorKind::kUsage);
    }
    drain_messages();
    return status;
  }

 private:
  int attempts() {
    for (bool checks_process_state = false;;) {
      const auto outcome = attempt(checks_process_state);
      const bool unknown = outcome.offender && outcome.offender->plugin.empty();
      if (unknown && !checks_process_state) {  // again, to find the offender
        checks_process_state = true;
        continue;
      }
      const auto left_out = excluded_.size();
      if (!unknown) leave_out(outcome);
      if (excluded_.size() == left_out) return finish(outcome);
      show_outcome(outcome);
      if (Clock::now() + std::chrono::milliseconds(100) > control_.deadline)
        control_.deadline = in_seconds(kMinRetryTime);
    }
  }

  Outcome attempt(bool checks_process_state) {
    const auto outcome =
        Attempt(job_, work_, control_, terminal_, *outputs_, excluded_, checks_process_state).run();
    descendants_.end();
    return outcome;
  }

  void leave_out(const Outcome& outcome) {
    auto offenders = outcome.suspects;
    if (outcome.offender) offenders.push_back(*outcome.offender);
    if (++attempts_ >= kMaxAttempts) return;
    for (const auto& o : offenders)
      if (is_new(excluded_, o)) excluded_.push_back(o);
  }

  /// Writes the complete reports and the final messages.
  int finish(const Outcome& outcome) {
    const bool is_valid = outcome.status == 0 || outcome.reports_stand;
    if (is_valid) outputs_->sync();
    const bool is_read = !is_valid || write_streams();
    if (is_read) show_outcome(outcome);
    if (is_valid && !(is_read && drain_messages())) return not_read();
    if (is_valid) outputs_->name_files();
    if (broken_pipe_) throw BrokenPipe();
    return final_status(outcome);
  }

  /// Writes one stream after the other. False if the run was ended before that.
  bool write_streams() {
    for (auto* stream : outputs_->streams()) {
      stream_ = stream;
      while (!stream->done()) {
        if (!wait_for_readers()) return false;
      }
    }
    stream_ = nullptr;
    return true;
  }

  /// False if the reader has not taken them in time.
  bool drain_messages() {
    terminal_.report_suppressed();
    const bool hurried = control_.interrupted || control_.is_over();
    const auto until = in_seconds(kMessageGrace);
    while (terminal_.pending()) {
      if (hurried && Clock::now() >= until) break;
      if (hurried) {
        wait_for({{terminal_.fd(), POLLOUT, [this] { terminal_.flush(); }}}, until);
      } else if (!wait_for_readers()) {
        break;
      }
    }
    const bool all = !terminal_.pending();
    terminal_.give_up();
    return all;
  }

  /// One turn. False when the run is to end.
  bool wait_for_readers() {
    bool end_requested = false;
    std::vector<PolledDescriptor> watched{
        {control_.signals.fd(), POLLIN, [&] { end_requested = control_.take_signals(); }}};
    if (terminal_.pending())
      watched.push_back({terminal_.fd(), POLLOUT, [this] { terminal_.flush(); }});
    auto until = control_.deadline;
    if (stream_ && stream_->fd() >= 0) {
      watched.push_back({stream_->fd(), POLLOUT, [this] { write_stream(); }});
    } else if (stream_) {
      until = std::min(until, Clock::now() + StreamOutput::kRetry);
      write_stream();
    }
    wait_for(watched, until);
    control_.interrupted = control_.interrupted || end_requested;
    return !end_requested && !control_.is_over();
  }

  void write_stream() {
    try {
      stream_->advance();
    } catch (const BrokenPipe&) {  // the other reports are still written
      broken_pipe_ = true;
      stream_->give_up();
    }
  }

  /// The run ends before its output has been taken.
  int not_read() {
    const bool begun = stream_ && stream_->begun();
    const auto what = stream_ ? stream_->name() : "standard error";
    if (control_.interrupted) {
      terminal_.last_message(begun ? "interrupted; " + what + " is incomplete, no file is written"
                                   : kInterruptedWords);
      return kInterruptedStatus;
    }
    const auto subject = job_.subject.empty() ? std::string() : job_.subject + ": ";
    terminal_.last_message(subject + what + " was not read within " +
                           seconds_text(job_.limits.timeout) + " (--timeout); no file is written");
    return static_cast<int>(ErrorKind::kModel);
  }

  /// The exit status of the run: 5 when a requested plugin failed.
  int final_status(const Outcome& last) const {
    const bool failed = std::any_of(excluded_.begin(), excluded_.end(),
                                    [](const Excluded& e) { return e.requested; });
    return failed && last.status == 0 ? static_cast<int>(ErrorKind::kPlugin) : last.status;
  }

  /// One line; a note where the plugin was not requested.
  void show_outcome(const Outcome& outcome) {
    if (outcome.message.empty()) return;
    const auto found = [](const Excluded& e) { return !e.requested; };
    const bool note =
        outcome.offender ? found(*outcome.offender)
                         : !outcome.suspects.empty() &&
                               std::all_of(outcome.suspects.begin(), outcome.suspects.end(), found);
    if (!note) return terminal_.last_message(outcome.message);
    if (!job_.quiet) terminal_.last_message("note: " + outcome.message + "; it is left out");
  }

  const Job& job_;
  const Work& work_;
  const Descendants descendants_;
  RunControl control_;
  Terminal terminal_;
  std::optional<Outputs> outputs_;
  std::vector<Excluded> excluded_;
  size_t attempts_ = 0;
  StreamOutput* stream_ = nullptr;  // that is being written
  bool broken_pipe_ = false;
};

}  // namespace

int supervise(const Job& job, const Work& work) {
  sandbox_requested();  // from the user's environment, not from one that a plugin has changed
  try {
    return Supervisor(job, work).run();
  } catch (const Error& e) {  // signals could not be set up
    Terminal(false).message(e.what());
    return e.exit_status();
  }
}

int supervise_command(const std::string& target, const Work& work) {
  Job job;
  job.targets = {target};
  job.limits.memory = default_max_memory();
  return supervise(job, [&](Worker& worker) {
    auto outcome = work(worker);
    worker.report_whole(0);
    return outcome;
  });
}

}  // namespace tmeter::core
