// Frames that a worker may send, and when.
#include "core/process/frame_validator.hpp"

#include <gtest/gtest.h>

namespace tmeter::core {
namespace {

Frame frame_of(FrameKind kind, uint64_t first = 0, uint64_t second = 0,
               std::string_view text = {}) {
  return {kind, {first, second}, text};
}

/// A run with two reports to standard output.
struct Validated {
  explicit Validated(bool runs_model = false) : validator(runs_model) {}
  std::string defect(const Frame& f) { return validator.defect(f, outputs, memory); }
  Outputs outputs{{"", ""}};
  ReportMemory memory;
  FrameValidator validator;
};

constexpr auto kBlamed = "it sends frames after it blamed a plugin";
constexpr auto kNoTarget = "it reports to a target that does not exist";

TEST(FrameValidator, EveryKindIsAcceptedOnlyInItsPlace) {
  Validated v(true);
  for (const auto kind :
       {FrameKind::kMessage, FrameKind::kProgress, FrameKind::kProgressEnded, FrameKind::kRunsFile,
        FrameKind::kRunsModel, FrameKind::kReport, FrameKind::kLongReport, FrameKind::kReportWhole,
        FrameKind::kParticipant, FrameKind::kOffender})
    EXPECT_EQ(v.defect(frame_of(kind)), "") << static_cast<int>(kind);
  EXPECT_EQ(v.defect(frame_of(FrameKind::kFinished, 4)), "");
  EXPECT_EQ(v.defect(frame_of(FrameKind::kMessage)), "it sends frames after its end");
  for (const int kind : {0, 12, -1})
    EXPECT_EQ(Validated().defect(frame_of(static_cast<FrameKind>(kind))),
              "it sends a frame of a forbidden kind");
  EXPECT_EQ(Validated().defect(frame_of(FrameKind::kRunsModel)),
            "it runs the model, which was not requested");
}

TEST(FrameValidator, AfterAnOffenderOnlyTheEndIsAccepted) {
  Validated v;
  EXPECT_EQ(v.defect(frame_of(FrameKind::kOffender)), "");
  EXPECT_EQ(v.defect(frame_of(FrameKind::kMessage)), kBlamed);
  EXPECT_EQ(v.defect(frame_of(FrameKind::kReport)), kBlamed);
  EXPECT_EQ(v.defect(frame_of(FrameKind::kOffender)), "it blames a second plugin");
  EXPECT_EQ(v.defect(frame_of(FrameKind::kFinished, 5)), "");
}

TEST(FrameValidator, ReportsAreAcceptedOnlyForIncompleteTargets) {
  Validated v;
  for (const auto kind : {FrameKind::kReport, FrameKind::kLongReport, FrameKind::kReportWhole}) {
    EXPECT_EQ(v.defect(frame_of(kind, 1)), "");
    EXPECT_EQ(v.defect(frame_of(kind, 2)), kNoTarget);
    EXPECT_EQ(v.defect(frame_of(kind, ~uint64_t{0})), kNoTarget);
  }
  EXPECT_EQ(v.defect(frame_of(FrameKind::kLongReport, 0, ~uint64_t{0})),
            "it hands over a report without bytes");
  v.outputs.write(1, "abc");
  EXPECT_EQ(v.defect(frame_of(FrameKind::kReportWhole, 1, 2)), "a report is incomplete");
  EXPECT_EQ(v.defect(frame_of(FrameKind::kReportWhole, 1, 4)), "a report is incomplete");
  EXPECT_EQ(v.defect(frame_of(FrameKind::kReportWhole, 1, 3)), "");
  v.outputs.set_whole(1);
  for (const auto kind : {FrameKind::kReport, FrameKind::kLongReport, FrameKind::kReportWhole})
    EXPECT_EQ(v.defect(frame_of(kind, 1, 3)), "it adds to a completed report");
  EXPECT_EQ(v.defect(frame_of(FrameKind::kReport, 0)), "");
}

TEST(FrameValidator, AnEndNeedsAKnownStatusAndASuccessAllReports) {
  const auto end = [](Validated& v, uint64_t status) {
    return v.defect(frame_of(FrameKind::kFinished, status));
  };
  for (const uint64_t status : {1, 2, 3, 4, 5, 6, 130}) {
    Validated v;
    EXPECT_EQ(end(v, status), "") << status;
  }
  for (const uint64_t status : {uint64_t{7}, uint64_t{129}, uint64_t{131}, uint64_t{1} << 32}) {
    Validated v;
    EXPECT_EQ(end(v, status), "its status " + std::to_string(status) + " does not exist");
  }
  for (const size_t whole : {0u, 1u}) {
    Validated v;
    v.outputs.set_whole(whole);
    EXPECT_EQ(end(v, 0), "it finishes although a report is missing") << whole;
  }
  Validated v;
  for (const size_t i : {0u, 1u}) v.outputs.set_whole(i);
  EXPECT_EQ(end(v, 0), "");
}

TEST(FrameValidator, TheNumberAndNamesOfPluginsAreLimited) {
  constexpr auto kTooMany = "it names more plugins than there can be";
  const auto named = [](std::string_view name) {
    return frame_of(FrameKind::kParticipant, 0, 0, name);
  };
  Validated v;
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(v.defect(named("p")), "") << i;
  EXPECT_EQ(v.defect(named("p")), kTooMany);
  const std::string longest(8192, 'x');
  EXPECT_EQ(Validated().defect(named(longest)), "");
  EXPECT_EQ(Validated().defect(named(longest + "x")), kTooMany);
}

}  // namespace
}  // namespace tmeter::core
