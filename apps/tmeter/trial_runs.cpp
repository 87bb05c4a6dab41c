#include "apps/tmeter/trial_runs.hpp"

#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/plugin_host/interfaces.hpp"

namespace tmeter::app {
namespace {
using namespace core;

constexpr uint64_t kOperator = 1000;  // ns
constexpr int64_t kBytes = 64;

struct Ticking {
  const Graph* graph;
  uint64_t now = 1'000'000'000;
};

/// Reports events of one run until an observer fails.
class Teller {
 public:
  Teller(tmeter_call* call, Ticking& clock) : call_(call), clock_(clock) {}
  tmeter_status status() const { return status_; }
  void tell(int32_t kind, const Node* node = nullptr, int64_t bytes = 0, uint64_t since = 0) {
    if (status_ != TMETER_OK) return;
    tmeter_event event{};
    event.struct_size = sizeof event;
    event.kind = kind;
    event.nanoseconds = clock_.now;
    event.node = node ? to_handle(node) : nullptr;
    event.bytes = bytes;
    event.since = since;
    status_ = static_cast<const tmeter_events_api*>(events_interface())->event(call_, &event);
  }

 private:
  tmeter_call* call_;
  Ticking& clock_;
  tmeter_status status_ = TMETER_OK;
};

tmeter_status prepare(tmeter_call* call, const tmeter_graph* graph, const tmeter_run_request*,
                      void** state, void*) {
  *state = new Ticking{from_handle(graph)};
  const auto* api = static_cast<const tmeter_events_api*>(events_interface());
  return api->fact(call, core::to_abi("engine"), core::to_abi("a clock"));
}

tmeter_status run(tmeter_call* call, void* state, int32_t run, int32_t, void*) {
  auto& clock = *static_cast<Ticking*>(state);
  const bool told = run == TMETER_RUN_OPERATORS || run == TMETER_RUN_MEMORY;
  Teller teller(call, clock);
  const uint64_t begin = clock.now;
  int64_t taken = 0;
  teller.tell(TMETER_EVENT_RUN_BEGIN);
  for (const auto& node : clock.graph->nodes()) {
    const uint64_t since = clock.now;
    if (told) teller.tell(TMETER_EVENT_OP_BEGIN, &node);
    if (run == TMETER_RUN_MEMORY) teller.tell(TMETER_EVENT_ALLOCATE, &node, kBytes), taken += kBytes;
    clock.now += kOperator;
    if (told) teller.tell(TMETER_EVENT_OP_END, &node, 0, since);
  }
  if (taken > 0) teller.tell(TMETER_EVENT_FREE, nullptr, taken);
  teller.tell(TMETER_EVENT_RUN_END, nullptr, 0, begin);
  return teller.status();
}

void release(void* state, void*) { delete static_cast<Ticking*>(state); }

tmeter_status want_all(tmeter_call* call, const tmeter_graph*, void*) {
  const auto* api = static_cast<const tmeter_runs_api*>(runs_interface());
  for (const int32_t kind : {TMETER_RUN_WHOLE, TMETER_RUN_OPERATORS, TMETER_RUN_MEMORY}) {
    if (const auto status = api->want(call, kind, 0, 1); status != TMETER_OK) return status;
  }
  return TMETER_OK;
}

}  // namespace

const tmeter_executor& clock_executor() {
  static const tmeter_executor executor{
      sizeof executor, 0, core::to_abi("a clock"), prepare, run, release, nullptr};
  return executor;
}

const tmeter_observer& idle_observer() {
  static const tmeter_observer observer{
      sizeof observer,
      0,
      core::to_abi("tmeter"),
      {},
      want_all,
      [](tmeter_call*, const tmeter_event*, void*) -> tmeter_status { return TMETER_OK; },
      nullptr,
      [](tmeter_call*, const tmeter_graph*, void*) -> tmeter_status { return TMETER_OK; },
      nullptr,
      nullptr};
  return observer;
}

}  // namespace tmeter::app
