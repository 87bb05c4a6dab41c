// The protocol of worker frames: which are allowed, and when. A worker that violates it is not
// trusted, because some code in it has written to foreign memory or descriptors. The validator also
// checks that all reports are complete.
#pragma once
#include <string>

#include "core/process/channel.hpp"
#include "core/process/outputs.hpp"
#include "core/process/report_memory.hpp"

namespace tmeter::core {

class FrameValidator {
 public:
  /// `runs_model`: the user requested a run of the model.
  explicit FrameValidator(bool runs_model) : runs_model_(runs_model) {}

  /// The violation of the protocol: "it reports to a target that does not exist". Empty: none.
  std::string defect(const Frame& frame, const Outputs& outputs, const ReportMemory& memory);

 private:
  std::string defect_of_report(const Frame& frame, const Outputs& outputs) const;
  std::string defect_of_end(const Frame& frame, const Outputs& outputs) const;
  bool runs_model_;
  bool offender_ = false, finished_ = false;
  size_t participants_ = 0;
};

}  // namespace tmeter::core
