// An executor that runs nothing and keeps a made-up clock. Operator i takes i + 1 µs. A run takes
// the sum of its operators, and another 1 µs for each operator whose events it reports.
//
// TMETER_CLOCKWORK selects a fault; tests/cli/test_runs.py lists them.
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <tmeter/cpp/executor.hpp>

namespace {

using tmeter::Graph;

std::string_view wrong() {
  const char* what = std::getenv("TMETER_CLOCKWORK");
  return what ? what : "";
}

constexpr int kSlow = 200;  // ms

class Clockwork final : public tmeter::Execution {
 public:
  Clockwork(const Graph& graph, uint64_t seed) : graph_(graph), seed_(seed) {}

  void run(int32_t run, int32_t, tmeter::ExecutorCall& call) override {
    ++runs_;
    const auto begun = now_;
    tell(call, TMETER_EVENT_RUN_BEGIN);
    if (run >= TMETER_RUN_OPERATORS) break_order(call);
    if (wrong() == "kind-of-run" && run == TMETER_RUN_WHOLE)
      tell_of(TMETER_EVENT_OP_BEGIN, graph_.nodes()[0], call);
    if (wrong() == "late-fact") call.fact("engine", "another");
    if (wrong() == "late-weights") call.weights(graph_.tensors()[0]);
    for (const auto node : graph_.nodes()) step(run, node, call);
    if (wrong() == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(kSlow));
    if (wrong() == "slow") now_ += kSlow * 1'000'000;
    auto end = event(TMETER_EVENT_RUN_END);
    end.since = begun;
    if (wrong() == "backwards") end.nanoseconds = end.since - 1;
    if (wrong() == "no-end") return;
    call.event(end);
    if (wrong() == "two-ends") call.event(end);
  }

 private:
  /// Events that must not follow the begin of a run, or each other.
  void break_order(tmeter::ExecutorCall& call) {
    const auto first = graph_.nodes()[0], second = graph_.nodes()[1];
    if (wrong() == "two-begins") tell(call, TMETER_EVENT_RUN_BEGIN);
    if (wrong() == "no-begin") tell_of(TMETER_EVENT_OP_END, first, call);
    if (wrong() == "overlap")
      tell_of(TMETER_EVENT_OP_BEGIN, first, call), tell_of(TMETER_EVENT_OP_BEGIN, second, call);
    if (wrong() == "mixed")
      tell_of(TMETER_EVENT_OP_BEGIN, first, call), tell_of(TMETER_EVENT_OP_END, second, call);
    if (wrong() == "open")
      tell_of(TMETER_EVENT_OP_BEGIN, first, call), tell(call, TMETER_EVENT_RUN_END);
    if (wrong() == "earlier") {
      auto e = event(TMETER_EVENT_OP_BEGIN);
      e.node = first.handle();
      e.nanoseconds = 7;
      call.event(e);
    }
    if (wrong() == "no-such-node") {
      static const char kNode[512]{};
      auto e = event(TMETER_EVENT_OP_BEGIN);
      e.node = reinterpret_cast<const tmeter_node*>(kNode);
      call.event(e);
    }
    if (wrong() == "unknown-kind") {
      for (const int32_t kind : {6, 4711, -1}) tell(call, kind);
    }
  }
  static tmeter_event event(int32_t kind) {
    tmeter_event e{};
    e.struct_size = sizeof e - (wrong() == "cut-event" ? 8 : 0);
    e.kind = kind;
    e.nanoseconds = now_;
    return e;
  }
  static void tell(tmeter::ExecutorCall& call, int32_t kind) { call.event(event(kind)); }

  void step(int32_t run, const tmeter::Node& node, tmeter::ExecutorCall& call) {
    if (call.cancelled()) throw tmeter::Error(TMETER_CANCELLED, "cancelled");
    const bool second = node.index() == 1;
    if (second && runs_ > 5) misbehave(node);
    if (second && wrong() == "interrupt" && runs_ == 8) raise(SIGINT);
    const bool observed = run >= TMETER_RUN_OPERATORS;
    if (observed) tell_of(TMETER_EVENT_OP_BEGIN, node, call);
    if (observed) now_ += 1000;
    const auto since = now_;
    now_ += (node.index() + 1) * 1000;
    if (run == TMETER_RUN_MEMORY) tell_memory(node, call);
    if (!observed) return;
    auto end = event(TMETER_EVENT_OP_END);
    end.node = node.handle();
    end.since = since;
    call.event(end);
    if (run == TMETER_RUN_MEMORY && node.index() > 0)
      tell_bytes(TMETER_EVENT_FREE, nullptr, 100 * static_cast<int64_t>(node.index()), call);
  }
  static void tell_of(int32_t kind, const tmeter::Node& node, tmeter::ExecutorCall& call) {
    auto e = event(kind);
    e.node = wrong() == "no-node" ? nullptr : node.handle();
    call.event(e);
  }
  /// A result of 100 (i + 1) bytes and a workspace of 1000; the previous result is freed
  /// afterwards.
  static void tell_memory(const tmeter::Node& node, tmeter::ExecutorCall& call) {
    const auto n = static_cast<int64_t>(node.index());
    tell_bytes(TMETER_EVENT_ALLOCATE, node.handle(), 100 * (n + 1), call);
    tell_bytes(TMETER_EVENT_ALLOCATE, node.handle(), 1000, call);
    tell_bytes(TMETER_EVENT_FREE, node.handle(), 1000, call);
  }
  static void tell_bytes(int32_t kind, const tmeter_node* node, int64_t bytes,
                         tmeter::ExecutorCall& call) {
    auto e = event(kind);
    e.node = node;
    e.bytes = wrong() == "no-bytes" ? -bytes : wrong() == "huge" ? INT64_MAX : bytes;
    call.event(e);
  }
  static void misbehave(const tmeter::Node& node) {
    if (wrong() == "throws")
      throw tmeter::Error(TMETER_CANNOT_RUN, std::string(node.op()) + " of fc: it throws");
    if (wrong() == "crashes") raise(SIGSEGV);
    if (wrong() == "hangs")
      for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  }

  Graph graph_;
  uint64_t seed_;
  int runs_ = 0;
  static inline uint64_t now_ = 1'000'000'000;
};

std::unique_ptr<tmeter::Execution> prepare(const Graph& graph, const tmeter_run_request& request,
                                           tmeter::ExecutorCall& call) {
  if (tmeter::to_view(request.device) != "cpu")
    throw tmeter::Error(TMETER_BAD_USAGE,
                        "this machine has no " + std::string(tmeter::to_view(request.device)));
  if (wrong() == "declines") throw tmeter::Error(TMETER_UNSUPPORTED, "");
  if (wrong() == "cannot") throw tmeter::Error(TMETER_CANNOT_RUN, "it has no such operator");
  size_t bytes = 0;
  for (const auto tensor : graph.tensors()) bytes += call.weights(tensor).len;
  if (wrong() == "early") {
    tmeter_event e{};
    e.struct_size = sizeof e;
    call.event(e);
  }
  call.fact("engine", "clockwork");
  call.fact("weights", std::to_string(bytes) + " bytes");
  std::string inputs;
  for (size_t i = 0; i < request.input_count; ++i)
    inputs += std::string(tmeter::to_view(request.inputs[i].name)) + ":" +
              std::string(tmeter::to_view(request.inputs[i].path)) + ";";
  call.fact("inputs", inputs);
  return std::make_unique<Clockwork>(graph, request.seed);
}

}  // namespace

TMETER_PLUGIN("com.acme.clockwork", "1.0.0",
              [](tmeter::Registrar& r) { tmeter::executor<prepare>(r, "clockwork"); })
