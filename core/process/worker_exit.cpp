#include "core/process/worker_exit.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

struct SignalName {
  int number;
  const char* words;
};
constexpr std::array<SignalName, 15> kSignals{{{SIGSEGV, "segmentation fault"},
                                               {SIGBUS, "bus error"},
                                               {SIGFPE, "arithmetic error, as a division by zero"},
                                               {SIGILL, "illegal instruction"},
                                               {SIGABRT, "abort"},
                                               {SIGSYS, "forbidden system call"},
                                               {SIGTRAP, "trap"},
                                               {SIGKILL, "killed, perhaps for want of memory"},
                                               {SIGTERM, "terminated"},
                                               {SIGXCPU, "limit of processor time"},
                                               {SIGALRM, "timer"},
                                               {SIGVTALRM, "timer"},
                                               {SIGPROF, "timer"},
                                               {SIGXFSZ, "limit of file size"},
                                               {SIGPIPE, "write to a closed pipe"}}};

std::string signal_words(int number) {
  const auto* row = std::find_if(kSignals.begin(), kSignals.end(),
                                 [&](const SignalName& s) { return s.number == number; });
  return row != kSignals.end() ? row->words : "signal " + std::to_string(number);
}

/// The thread that crashed; else, as for a thread that a plugin started, the first that is inside a
/// plugin; else the main one.
const ActivitySlot& blamed_slot(const Activity& a) {
  const auto crashed = static_cast<size_t>(a.crashed_slot.load());
  if (crashed < Activity::kSlots && !a.slots[crashed].plugin.empty()) return a.slots[crashed];
  const auto busy = std::find_if(a.slots.begin(), a.slots.end(),
                                 [](const ActivitySlot& s) { return !s.plugin.empty(); });
  return busy != a.slots.end() ? *busy : a.slots[0];
}

std::string node_words(const ActivitySlot& s) {
  if (s.node < 0) return {};
  std::string words = " on node " + std::to_string(s.node) + " (" + s.op.text();
  if (!s.module.empty()) words += " in " + s.module.text();
  return words + ")";
}

std::string place(const ActivitySlot& s) {
  std::string words;
  if (!s.doing.empty()) words += " " + s.doing.text();
  words += node_words(s);
  if (!s.at.empty()) words += ", " + s.at.text();
  return words;
}

constexpr std::array<const char*, 5> kStages{"starting", "reading the model", "analysing the model",
                                             "writing reports", "ending plugins"};
const char* words(Stage stage) {
  const auto i = static_cast<size_t>(stage);
  return i < kStages.size() ? kStages[i] : "working";
}

Outcome describe_model_exit(const Activity& a, const WorkerExit& end, const ActivitySlot& s) {
  const auto engine = a.engine.text();
  std::string message = end.subject + ": " + engine + " " + describe_exit(end);
  if (!s.at.empty()) message += " in " + s.at.text();
  message += end.cause == ExitCause::kTimeout
                 ? "; the file may never end, or needs a longer --timeout"
                 : "; the file is damaged or hostile, or triggers a defect of " + engine;
  return {static_cast<int>(ErrorKind::kRun), message, false, {}};
}

/// The end of the host itself: a defect of tmeter, unless third-party plugins took part.
Outcome own_end(const std::string& stage, const WorkerExit& end, bool ours) {
  const auto subject = end.subject.empty() ? std::string() : end.subject + ": ";
  if (end.cause == ExitCause::kTimeout || end.cause == ExitCause::kMemory) {
    return {
        static_cast<int>(ErrorKind::kModel), subject + stage + " " + describe_exit(end), false, {}};
  }
  return {static_cast<int>(ErrorKind::kInternal),
          subject + "tmeter " + describe_exit(end) + " while " + stage +
              (ours ? "; this is a defect of tmeter, please report it" : ""),
          false,
          {}};
}

constexpr int kFileLost = static_cast<int>(ErrorKind::kModel);

/// True where the worker ended itself as on a file that has become shorter (mapped_file.hpp).
bool has_exited_as_reported(const WorkerExit& end) {
  return end.cause == ExitCause::kItself && WIFEXITED(end.wait_status) &&
         WEXITSTATUS(end.wait_status) == kFileLost;
}

/// True for a signal from an earlier timer or from a resource limit: the plugin that is running
/// when it arrives is not the cause.
bool is_delayed_signal(const WorkerExit& end) {
  if (end.cause != ExitCause::kItself || !WIFSIGNALED(end.wait_status)) return false;
  switch (WTERMSIG(end.wait_status)) {
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGABRT:
    case SIGSYS:
    case SIGTRAP:
    case SIGKILL:
      return false;
    default:
      return true;
  }
}

std::vector<Excluded> suspects_of(const std::vector<Participant>& participants,
                                  const std::string& reason) {
  std::vector<Excluded> out;
  for (const auto& p : participants) {
    auto& e = out.emplace_back();
    e.plugin = p.id.empty() ? p.library : p.id;
    e.reason = "took part in a run that " + reason;
    e.opened = false;
    e.suspected = true;
  }
  return out;
}

/// `plugin` comes from the shared page: an id, or a library that is being opened.
bool was_participant(const std::vector<Participant>& participants, const std::string& plugin) {
  const auto is = [&](const std::string& name) {
    decltype(ActivitySlot::plugin) cut;
    cut.set(name);
    return cut.is(plugin);
  };
  return !plugin.empty() &&
         std::any_of(participants.begin(), participants.end(),
                     [&](const Participant& p) { return is(p.id) || is(p.library); });
}

/// Adds the third-party plugins that took part as suspects; unchanged if there were none.
Outcome with_suspects(Outcome outcome, std::vector<Excluded> suspects) {
  if (suspects.empty()) return outcome;
  std::string names;
  for (const auto& s : suspects) names += (names.empty() ? "" : ", ") + s.plugin;
  outcome.status = static_cast<int>(ErrorKind::kPlugin);
  outcome.message += "; the work is done again without plugins that are not tmeter's own: " + names;
  outcome.offender.reset();
  outcome.suspects = std::move(suspects);
  return outcome;
}

/// Blames one plugin.
Outcome plugin_end(const Activity& a, const WorkerExit& end, const ActivitySlot& s) {
  const bool limit = end.cause == ExitCause::kTimeout || end.cause == ExitCause::kMemory;
  const bool broken = end.cause != ExitCause::kItself && !limit;
  const auto reason = describe_exit(end) + place(s);
  const auto message = "plugin " + s.plugin.text() + (broken ? " or one before it " : " ") + reason;
  const bool opening = s.opening != OpenedFor::kNo;
  if (a.stage == Stage::kReading && !opening) {
    const auto kind = limit ? ErrorKind::kModel : ErrorKind::kPlugin;
    return {static_cast<int>(kind), end.subject + ": " + message, false, {}};
  }
  const auto status = static_cast<int>(ErrorKind::kPlugin);
  if (broken) return {status, message, false, {}};
  return {status, message, false,
          Excluded{s.plugin.text(), reason, !opening, s.opening != OpenedFor::kFound}};
}

}  // namespace

std::string describe_exit(const WorkerExit& end) {
  switch (end.cause) {
    case ExitCause::kTimeout:
      return "did not finish within " + end.limit;
    case ExitCause::kMemory:
      return "took more memory than " + end.limit;
    case ExitCause::kBadFrame:
      return "broke the connection to tmeter's supervisor (a stray write or close?)";
    case ExitCause::kContract:
      return "broke the worker's contract with tmeter's supervisor (" + end.limit + ")";
    case ExitCause::kLingering:
      return "kept the worker running for " + end.limit + " after its end";
    case ExitCause::kItself:
      break;
  }
  if (WIFSIGNALED(end.wait_status))
    return "crashed (" + signal_words(WTERMSIG(end.wait_status)) + ")";
  return "ended the process (exit " + std::to_string(WEXITSTATUS(end.wait_status)) + ")";
}

Outcome explain_worker_exit(const Activity& a, const WorkerExit& end) {
  const bool limit = end.cause == ExitCause::kTimeout || end.cause == ExitCause::kMemory;
  const bool broken = end.cause != ExitCause::kItself && !limit;
  const bool ours = end.participants.empty();
  auto all = suspects_of(end.participants, describe_exit(end));
  if (!a.is_intact()) return with_suspects(own_end("working", end, ours), std::move(all));
  if (!a.fatal_message.empty() && has_exited_as_reported(end)) {
    if (end.file_shrank) all.clear();
    return with_suspects({kFileLost, a.fatal_message.text(), false, {}}, std::move(all));
  }
  const auto& s = blamed_slot(a);
  const auto plugin = s.plugin.text();
  if (limit) all.clear();
  const bool late = is_delayed_signal(end) && !all.empty();
  if (!a.engine.empty() && a.engine.is(end.engine) && !broken && !late)
    return describe_model_exit(a, end, s);
  if (plugin.empty() || late) {
    auto outcome = own_end(words(a.stage), end, all.empty());
    return with_suspects(std::move(outcome), std::move(all));
  }
  auto outcome = plugin_end(a, end, s);
  if (!broken && was_participant(end.participants, plugin)) return outcome;
  return with_suspects(std::move(outcome), std::move(all));
}

Outcome explain_failure(const Activity& a, const Outcome& outcome,
                        const std::vector<Participant>& participants) {
  if (!a.is_intact() || !a.no_memory_left) return outcome;
  if (outcome.offender && was_participant(participants, outcome.offender->plugin)) return outcome;
  return with_suspects(outcome, suspects_of(participants, "left no memory"));
}

}  // namespace tmeter::core
