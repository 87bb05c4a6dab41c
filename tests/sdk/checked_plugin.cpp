// A plugin with the faults that `tmeter plugin check` must find. DOES, set at compile time, is a
// word of the table below.
#include <sys/time.h>
#include <time.h>

#include <csignal>
#include <cstdlib>
#include <tmeter/cpp/plugin.hpp>

namespace {

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)
constexpr std::string_view kDoes = STRING(DOES);

tmeter::Count elements(const tmeter::Node& n) {
  if (kDoes == "itimer") {
    const itimerval hour{{}, {3600, 0}};
    setitimer(ITIMER_REAL, &hour, nullptr);
  }
  if (kDoes == "timer") {
    timer_t timer{};
    sigevent quiet{};
    quiet.sigev_notify = SIGEV_NONE;
    const itimerspec hour{{}, {3600, 0}};
    timer_create(CLOCK_MONOTONIC, &quiet, &timer);
    timer_settime(timer, 0, &hour, nullptr);
  }
  if (kDoes == "signal") std::signal(SIGUSR2, SIG_IGN);
  if (kDoes == "environment") setenv("CHECKED", "1", 1);
  static int calls = 0;
  ++calls;
  if (kDoes == "counts" || kDoes == "counts_unclaimed") return calls;
  return n.output().numel();
}

void load(const tmeter::Request& request, tmeter::GraphBuilder& graph, tmeter::Call&) {
  if (!request.source().bytes().starts_with("CHECKED1"))
    throw tmeter::Error(TMETER_BAD_MODEL, "the first bytes are not CHECKED1");
  const auto root = graph.module(0, "", "Net"), call = graph.module_call(root, 0);
  const auto f32 = tmeter::DType(TMETER_DTYPE_FLOAT32);
  const auto x = graph.tensor_value(f32, {graph.dim(2)}),
             y = graph.tensor_value(f32, {graph.dim(2)});
  graph.input("x", "file", x);
  graph.node("aten::relu", "", call, {graph.arg("self", x)}, {y});
  try {
    graph.output(y);  // the last push
  } catch (const tmeter::Error&) {
    if (kDoes != "swallows") throw;
  }
}

}  // namespace

TMETER_PLUGIN("com.acme.checked", "1.0.0", [](tmeter::Registrar& r) {
  r.metric({.id = "checked", .title = "checked", .convention = "elements"});
  if (kDoes != "counts_unclaimed") r.handlers_by_signature();
  r.op("acme::same(Tensor x) -> Tensor")
      .handle("checked", elements)
      .shape([](tmeter::ShapeCall& c) { c.give_like("x"); });
  r.loader("checked", "checked files", {{"magic:434845434b454431", 80}}, load);
});
