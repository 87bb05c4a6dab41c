// A third-party observer that records the events of runs.
//
// TMETER_DIARY selects a fault; tests/cli/test_runs.py lists them.
#include <csignal>
#include <cstdlib>
#include <set>
#include <string_view>
#include <tmeter/cpp/observer.hpp>

namespace {

using tmeter::Count;
using tmeter::Graph;

std::string_view wrong() {
  const char* what = std::getenv("TMETER_DIARY");
  return what ? what : "";
}

class Diary final : public tmeter::Observer {
 public:
  void begin(const Graph&, tmeter::ObserverCall& call) override {
    if (wrong() == "wants-what") call.want(7);
    call.want(TMETER_RUN_OPERATORS);
    call.want(TMETER_RUN_MEMORY, 0, 2);
    call.want(TMETER_RUN_WHOLE, 3, 1);
    call.want_samples(1'000'000);
  }
  void event(const tmeter_event& e, tmeter::ObserverCall& call) override {
    if (wrong() == "throws") throw std::runtime_error("the pen is dry");
    if (wrong() == "crashes") raise(SIGSEGV);
    if (wrong() == "reads-early") call.read("op_time", TMETER_AXIS_MODEL, 0);
    const bool end = e.kind == TMETER_EVENT_RUN_END;
    operators_ += end && e.run == TMETER_RUN_OPERATORS;
    memory_ += end && e.run == TMETER_RUN_MEMORY;
    elsewhere_ += end && e.run == TMETER_RUN_WHOLE && e.threads == 3;
    bytes_ += e.kind == TMETER_EVENT_ALLOCATE ? e.bytes : 0;
    if (e.kind == TMETER_EVENT_OP_END) seen_.insert(e.node);
  }
  bool enough(tmeter::ObserverCall&) override { return operators_ >= 4; }
  void end(const Graph&, tmeter::ObserverCall& call) override {
    if (wrong() == "says-nothing") return;
    const auto emit = [&](std::string_view id, int64_t n) {
      call.emit(id, TMETER_AXIS_MODEL, 0, Count(n));
    };
    emit("diary_operators", operators_);
    emit("diary_memory", memory_);
    emit("diary_threads", elsewhere_);
    emit("diary_bytes", bytes_);
    emit("diary_seen", static_cast<int64_t>(seen_.size()));
    emit("diary_sampled", samples_ > 0);
  }
  void sample(uint64_t, tmeter::ObserverCall&) override {
    if (wrong() == "sample-throws") throw std::runtime_error("no ink");
    ++samples_;
  }

 private:
  int64_t operators_ = 0, memory_ = 0, elsewhere_ = 0, bytes_ = 0, samples_ = 0;
  std::set<const tmeter_node*> seen_;
};

}  // namespace

TMETER_PLUGIN("com.acme.diary", "1.0.0", [](tmeter::Registrar& r) {
  for (const auto* id : {"diary_operators", "diary_memory", "diary_threads", "diary_bytes",
                         "diary_seen", "diary_sampled"})
    r.metric({.id = id,
              .title = id,
              .axis = TMETER_AXIS_MODEL,
              .aggregation = TMETER_AGGREGATE_NONE,
              .convention = "the text of the diary"});
  tmeter::observer<Diary>(
      r, "diary",
      "diary_operators diary_memory diary_threads diary_bytes diary_seen diary_sampled");
})
