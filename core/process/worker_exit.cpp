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
  const auto* known = std::find_if(kSignals.begin(), kSignals.end(),
                                   [&](const SignalName& s) { return s.number == number; });
  return known != kSignals.end() ? known->words : "signal " + std::to_string(number);
}

/// The thread that crashed; else, as for a thread that a plugin started, the first that is inside a
/// plugin; else the main one.
const ActivitySlot& guilty_slot(const Activity& a) {
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

Ending model_end(const Activity& a, const WorkerEnd& end, const ActivitySlot& s) {
  const auto engine = a.engine.text();
  std::string message = end.subject + ": " + engine + " " + what_happened(end);
  if (!s.at.empty()) message += " in " + s.at.text();
  message += end.by == EndedBy::kTimeout
                 ? "; the file may never end, or needs a longer --timeout"
                 : "; the file is damaged, hostile, or meets a defect of " + engine;
  return {static_cast<int>(ErrorKind::kRun), message, false, {}};
}

/// The end of the host itself: a defect of tmeter, unless third-party plugins took part.
Ending own_end(const Activity& a, const WorkerEnd& end, bool ours) {
  const std::string stage = words(a.stage);
  const auto subject = end.subject.empty() ? std::string() : end.subject + ": ";
  if (end.by == EndedBy::kTimeout || end.by == EndedBy::kMemory) {
    return {
        static_cast<int>(ErrorKind::kModel), subject + stage + " " + what_happened(end), false, {}};
  }
  return {static_cast<int>(ErrorKind::kInternal),
          subject + "tmeter " + what_happened(end) + " while " + stage +
              (ours ? "; this is a defect of tmeter, please report it" : ""),
          false,
          {}};
}

/// True for a signal from an earlier timer or from a resource limit: the plugin that is running
/// when it arrives is not the cause.
bool comes_late(const WorkerEnd& end) {
  if (end.by != EndedBy::kItself || !WIFSIGNALED(end.wait_status)) return false;
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

std::vector<Excluded> participants(const Activity& a, const std::string& reason) {
  std::vector<Excluded> out;
  const auto count = std::min<size_t>(a.participant_count, Activity::kParticipants);
  for (size_t i = 0; i < count; ++i) {
    const auto& p = a.participants[i];
    const auto name = p.id.empty() ? p.library.text() : p.id.text();
    out.push_back({name, "took part in a run that " + reason, false, p.asked});
  }
  return out;
}

bool took_part(const std::vector<Excluded>& all, const Activity& a, const std::string& plugin) {
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].plugin == plugin || a.participants[i].library.is(plugin)) return true;
  return false;
}

/// Adds the third-party plugins that took part as suspects; unchanged if there were none.
Ending with_suspects(Ending ending, std::vector<Excluded> suspects) {
  if (suspects.empty()) return ending;
  std::string names;
  for (const auto& s : suspects) names += (names.empty() ? "" : ", ") + s.plugin;
  ending.status = static_cast<int>(ErrorKind::kPlugin);
  ending.message += "; the work is done again without plugins that are not tmeter's own: " + names;
  ending.offender.reset();
  ending.suspects = std::move(suspects);
  return ending;
}

/// Blames one plugin.
Ending plugin_end(const Activity& a, const WorkerEnd& end, const ActivitySlot& s) {
  const bool limit = end.by == EndedBy::kTimeout || end.by == EndedBy::kMemory;
  const bool broken = end.by != EndedBy::kItself && !limit;
  const auto reason = what_happened(end) + place(s);
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

std::string what_happened(const WorkerEnd& end) {
  switch (end.by) {
    case EndedBy::kTimeout:
      return "was not done after " + end.limit;
    case EndedBy::kMemory:
      return "took more memory than " + end.limit;
    case EndedBy::kBadFrame:
      return "broke the connection to tmeter's supervisor (a stray write or close?)";
    case EndedBy::kContract:
      return "broke the worker's contract with tmeter's supervisor (" + end.limit + ")";
    case EndedBy::kLingering:
      return "kept the worker running for " + end.limit + " after its end";
    case EndedBy::kItself:
      break;
  }
  if (WIFSIGNALED(end.wait_status))
    return "crashed (" + signal_words(WTERMSIG(end.wait_status)) + ")";
  return "ended the process (exit " + std::to_string(WEXITSTATUS(end.wait_status)) + ")";
}

Ending explain_worker_exit(const Activity& a, const WorkerEnd& end) {
  if (!a.last_words.empty()) return {a.last_status, a.last_words.text(), false, {}};
  const auto& s = guilty_slot(a);
  const bool limit = end.by == EndedBy::kTimeout || end.by == EndedBy::kMemory;
  const bool broken = end.by != EndedBy::kItself && !limit;
  const auto plugin = s.plugin.text();
  auto suspects = limit ? std::vector<Excluded>() : participants(a, what_happened(end));
  const bool late = comes_late(end) && !suspects.empty();
  if (!a.engine.empty() && !broken && !late) return model_end(a, end, s);
  if (plugin.empty() || late) {
    auto ending = own_end(a, end, suspects.empty());
    return with_suspects(std::move(ending), std::move(suspects));
  }
  auto ending = plugin_end(a, end, s);
  if (!broken && took_part(suspects, a, plugin)) return ending;
  return with_suspects(std::move(ending), std::move(suspects));
}

Ending explain_failure(const Activity& a, const Ending& ending) {
  if (!a.no_memory_left) return ending;
  auto suspects = participants(a, "left no memory");
  if (ending.offender && took_part(suspects, a, ending.offender->plugin)) return ending;
  return with_suspects(ending, std::move(suspects));
}

}  // namespace tmeter::core
