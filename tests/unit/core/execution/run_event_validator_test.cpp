#include "core/execution/run_event_validator.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/ir/builder.hpp"
#include "core/plugin_host/handles.hpp"

namespace tmeter {
namespace {

using core::GraphBuilder;
using core::RunEventValidator;

/// Two operators.
std::unique_ptr<core::Graph> two() {
  GraphBuilder b;
  const auto call = b.module_call(b.module(0, "", "Net"), 0);
  b.node("acme::a", "", call, {}, {}, "");
  b.node("acme::b", "", call, {}, {}, "");
  return b.finish();
}

tmeter_event event(int32_t kind, uint64_t at, const core::Node* node = nullptr,
                   uint64_t since = 0) {
  tmeter_event e{};
  e.struct_size = sizeof e;
  e.kind = kind;
  e.nanoseconds = at;
  e.node = node ? core::to_handle(node) : nullptr;
  e.since = since;
  return e;
}

struct Told : ::testing::Test {
  std::unique_ptr<core::Graph> graph = two();
  const core::Node *a = &graph->nodes()[0], *b = &graph->nodes()[1];
  RunEventValidator run{*graph, TMETER_RUN_MEMORY};

  void tell(const tmeter_event& e) { run.check(e); }
  void refuses(const tmeter_event& e) { EXPECT_THROW(run.check(e), core::Error); }
};

TEST_F(Told, OperatorsInSequenceAreAccepted) {
  tell(event(TMETER_EVENT_RUN_BEGIN, 10));
  tell(event(TMETER_EVENT_OP_BEGIN, 11, a));
  tell(event(TMETER_EVENT_OP_END, 13, a, 12));
  tell(event(TMETER_EVENT_OP_BEGIN, 13, b));
  tell(event(TMETER_EVENT_OP_END, 13, b, 13));
  tell(event(TMETER_EVENT_RUN_END, 14, nullptr, 10));
  EXPECT_EQ(run.missing_event(), "");
}

TEST_F(Told, NestedOperatorsAreRefused) {
  tell(event(TMETER_EVENT_RUN_BEGIN, 10));
  tell(event(TMETER_EVENT_OP_BEGIN, 11, a));
  refuses(event(TMETER_EVENT_OP_BEGIN, 12, b));
  refuses(event(TMETER_EVENT_OP_END, 12, b, 12));
  refuses(event(TMETER_EVENT_RUN_END, 12, nullptr, 10));
}

TEST_F(Told, TimesThatGoBackAreRefused) {
  refuses(event(TMETER_EVENT_OP_BEGIN, 10, a));  // before its run began
  tell(event(TMETER_EVENT_RUN_BEGIN, 10));
  refuses(event(TMETER_EVENT_OP_BEGIN, 9, a));
  tell(event(TMETER_EVENT_OP_BEGIN, 11, a));
  refuses(event(TMETER_EVENT_OP_END, 12, a, 10));  // began before its begin event
  refuses(event(TMETER_EVENT_OP_END, 12, a, 13));  // began after it ended
  refuses(event(TMETER_EVENT_OP_END, 12, a));      // has no begin time
}

/// Times of work on a GPU are known after the run; memory is reported during it.
TEST_F(Told, MemoryHasItsOwnClock) {
  tell(event(TMETER_EVENT_RUN_BEGIN, 10));
  auto allocate = event(TMETER_EVENT_ALLOCATE, 20, a);
  allocate.bytes = 100;
  tell(allocate);
  tell(event(TMETER_EVENT_OP_BEGIN, 11, a));
  tell(event(TMETER_EVENT_OP_END, 12, a, 11));
  allocate.nanoseconds = 19;
  refuses(allocate);
}

TEST_F(Told, NodesOutsideTheGraphAreRefused) {
  tell(event(TMETER_EVENT_RUN_BEGIN, 10));
  const core::Node copy = *a;
  refuses(event(TMETER_EVENT_OP_BEGIN, 11, &copy));
  refuses(event(TMETER_EVENT_OP_BEGIN, 11, reinterpret_cast<const core::Node*>(8)));
  refuses(event(TMETER_EVENT_OP_BEGIN, 11, a + 100'000));
  const auto* inside = reinterpret_cast<const char*>(a) + 8;
  refuses(event(TMETER_EVENT_OP_BEGIN, 11, reinterpret_cast<const core::Node*>(inside)));
}

TEST_F(Told, EventsOfAnotherKindOfRunAreRefused) {
  RunEventValidator whole(*graph, TMETER_RUN_WHOLE), operators(*graph, TMETER_RUN_OPERATORS);
  whole.check(event(TMETER_EVENT_RUN_BEGIN, 10));
  operators.check(event(TMETER_EVENT_RUN_BEGIN, 10));
  EXPECT_THROW(whole.check(event(TMETER_EVENT_OP_BEGIN, 11, a)), core::Error);
  auto allocate = event(TMETER_EVENT_ALLOCATE, 20, a);
  allocate.bytes = 100;
  EXPECT_THROW(operators.check(allocate), core::Error);
}

}  // namespace
}  // namespace tmeter
