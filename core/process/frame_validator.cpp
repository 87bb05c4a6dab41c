#include "core/process/frame_validator.hpp"

#include <algorithm>
#include <array>

#include "core/base/error.hpp"

namespace tmeter::core {
namespace {

// The supervisor keeps their names: a path and an id each.
constexpr size_t kMaxParticipants = 1000, kMaxParticipantBytes = 8192;

/// docs/command-line.md
bool is_exit_status(uint64_t number) {
  constexpr std::array<ErrorKind, 7> kFailures{
      ErrorKind::kInternal, ErrorKind::kUsage, ErrorKind::kAssertion,  ErrorKind::kModel,
      ErrorKind::kPlugin,   ErrorKind::kRun,   ErrorKind::kInterrupted};
  return number == 0 || std::any_of(kFailures.begin(), kFailures.end(), [&](ErrorKind kind) {
           return number == static_cast<uint64_t>(kind);
         });
}

}  // namespace

std::string FrameValidator::defect(const Frame& f, const Outputs& outputs,
                                   const ReportMemory& memory) {
  if (finished_) return "it sends frames after its end";
  if (offender_ && f.kind != FrameKind::kOffender && f.kind != FrameKind::kFinished)
    return "it sends frames after it blamed a plugin";
  switch (f.kind) {
    case FrameKind::kMessage:
    case FrameKind::kProgress:
    case FrameKind::kProgressEnded:
    case FrameKind::kRunsFile:
      return {};
    case FrameKind::kRunsModel:
      return runs_model_ ? "" : "it runs the model, which was not requested";
    case FrameKind::kReport:
      return defect_of_report(f, outputs);
    case FrameKind::kLongReport:
      if (!memory.at(f.numbers[1])) return "it hands over a report without bytes";
      return defect_of_report(f, outputs);
    case FrameKind::kReportWhole:
      if (auto why = defect_of_report(f, outputs); !why.empty()) return why;
      return f.numbers[1] == outputs.written(f.numbers[0]) ? "" : "a report is incomplete";
    case FrameKind::kParticipant:
      if (f.text.size() > kMaxParticipantBytes || ++participants_ > kMaxParticipants)
        return "it names more plugins than there can be";
      return {};
    case FrameKind::kOffender:
      if (offender_) return "it blames a second plugin";
      offender_ = true;
      return {};
    case FrameKind::kFinished:
      finished_ = true;
      return defect_of_end(f, outputs);
  }
  return "it sends a frame of a forbidden kind";
}

std::string FrameValidator::defect_of_report(const Frame& f, const Outputs& outputs) const {
  if (f.numbers[0] >= outputs.size()) return "it reports to a target that does not exist";
  return outputs.is_whole(f.numbers[0]) ? "it adds to a completed report" : "";
}

std::string FrameValidator::defect_of_end(const Frame& f, const Outputs& outputs) const {
  const auto status = f.numbers[0];
  if (!is_exit_status(status)) return "its status " + std::to_string(status) + " does not exist";
  for (size_t i = 0; status == 0 && i < outputs.size(); ++i)
    if (!outputs.is_whole(i)) return "it finishes although a report is missing";
  return {};
}

}  // namespace tmeter::core
