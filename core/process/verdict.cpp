#include "core/process/verdict.hpp"

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
constexpr std::array<SignalName, 10> kSignals{{{SIGSEGV, "segmentation fault"},
                                               {SIGBUS, "bus error"},
                                               {SIGFPE, "arithmetic error, as a division by zero"},
                                               {SIGILL, "illegal instruction"},
                                               {SIGABRT, "abort"},
                                               {SIGSYS, "forbidden system call"},
                                               {SIGTRAP, "trap"},
                                               {SIGKILL, "killed, perhaps for want of memory"},
                                               {SIGTERM, "terminated"},
                                               {SIGXCPU, "limit of processor time"}}};

std::string signal_words(int number) {
  const auto* known = std::find_if(kSignals.begin(), kSignals.end(),
                                   [&](const SignalName& s) { return s.number == number; });
  return known != kSignals.end() ? known->words : "signal " + std::to_string(number);
}

/// "crashed (segmentation fault)"
std::string what_happened(const WorkerEnd& end) {
  switch (end.by) {
    case EndedBy::kTimeout:
      return "was not done after " + end.limit;
    case EndedBy::kMemory:
      return "took more memory than " + end.limit;
    case EndedBy::kBadFrame:
      return "or one before it broke the connection to tmeter's supervisor (a stray write or "
             "close?)";
    case EndedBy::kItself:
      break;
  }
  if (WIFSIGNALED(end.wait_status))
    return "crashed (" + signal_words(WTERMSIG(end.wait_status)) + ")";
  return "ended the process (exit " + std::to_string(WEXITSTATUS(end.wait_status)) + ")";
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

constexpr std::array<const char*, 4> kStages{"starting", "reading the model", "analysing the model",
                                             "writing reports"};
const char* words(Stage stage) {
  const auto i = static_cast<size_t>(stage);
  return i < kStages.size() ? kStages[i] : "working";
}

Ending model_verdict(const Activity& a, const WorkerEnd& end, const ActivitySlot& s) {
  const auto engine = a.engine.text();
  std::string message = end.subject + ": " + engine + " " + what_happened(end);
  if (!s.at.empty()) message += " in " + s.at.text();
  message += end.by == EndedBy::kTimeout
                 ? "; the file may never end, or needs a longer --timeout"
                 : "; the file is damaged, hostile, or meets a defect of " + engine;
  return {static_cast<int>(ErrorKind::kRun), message, false, {}};
}

Ending own_verdict(const Activity& a, const WorkerEnd& end) {
  const std::string stage = words(a.stage);
  const auto subject = end.subject.empty() ? std::string() : end.subject + ": ";
  if (end.by == EndedBy::kTimeout || end.by == EndedBy::kMemory) {
    return {
        static_cast<int>(ErrorKind::kModel), subject + stage + " " + what_happened(end), false, {}};
  }
  return {static_cast<int>(ErrorKind::kInternal),
          subject + "tmeter " + what_happened(end) + " while " + stage +
              "; this is a defect of tmeter, please report it",
          false,
          {}};
}

}  // namespace

Ending judge(const Activity& a, const WorkerEnd& end) {
  if (!a.last_words.empty()) return {a.last_status, a.last_words.text(), false, {}};
  const auto& s = guilty_slot(a);
  if (!a.engine.empty()) return model_verdict(a, end, s);
  if (s.plugin.empty()) return own_verdict(a, end);
  const auto reason = what_happened(end) + place(s);
  const auto message = "plugin " + s.plugin.text() + " " + reason;
  const bool limit = end.by == EndedBy::kTimeout || end.by == EndedBy::kMemory;
  const bool opening = s.opening != Opening::kNo;
  if (a.stage == Stage::kReading && !opening) {
    const auto kind = limit ? ErrorKind::kModel : ErrorKind::kPlugin;
    return {static_cast<int>(kind), end.subject + ": " + message, false, {}};
  }
  const auto status = static_cast<int>(ErrorKind::kPlugin);
  if (end.by == EndedBy::kBadFrame) return {status, message, false, {}};
  return {status, message, false,
          Excluded{s.plugin.text(), reason, !opening, s.opening != Opening::kFound}};
}

}  // namespace tmeter::core
