// The time of a plugin's access to the graph: nanoseconds of one call of an accessor, as findings.
//
//   c++ -std=c++20 -O2 -shared -fPIC -fvisibility=hidden -I sdk/include
//   tests/bench/accessors_plugin.cpp \
//     -o accessors.tmeter && tmeter --plugins=flops,accessors --plugin ./accessors.tmeter MODEL
#include <chrono>
#include <tmeter/cpp/plugin.hpp>

namespace {

constexpr int kRounds = 2000;

/// The fastest of five measurements, in nanoseconds per call.
template <class F>
double nanoseconds(size_t calls, F f) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int again = 0; again < 5; ++again) {
    const auto begin = Clock::now();
    for (int i = 0; i < kRounds; ++i) f();
    const std::chrono::duration<double, std::nano> time = Clock::now() - begin;
    const double each = time.count() / kRounds / static_cast<double>(calls);
    best = each < best ? each : best;
  }
  return best;
}

void tell(tmeter::Call& call, std::string_view what, double time) {
  tmeter::Finding f;
  f.rule = "accessor";
  f.text = std::string(what) + " " + tmeter::fixed(time, 1) + " ns";
  call.add(f);
}

void measure(const tmeter::Graph& graph, tmeter::Call& call) {
  size_t sum = 0;
  const auto nodes = graph.nodes();
  const auto of_nodes = [&](std::string_view what, auto look) {
    tell(call, what, nanoseconds(nodes.size(), [&] {
           for (const auto node : nodes) sum += look(node);
         }));
  };
  of_nodes("node_at and node_op", [](const tmeter::Node& n) { return n.op().size(); });
  of_nodes("node_find_arg",
           [](const tmeter::Node& n) { return size_t(n.arg("weight").is_none()); });
  of_nodes("node_result and value_dims",
           [](const tmeter::Node& n) { return size_t(n.output().shape().rank()); });
  of_nodes("node_module_call and module_path",
           [](const tmeter::Node& n) { return n.call().module().path().size(); });
  of_nodes("read of a metric",
           [&](const tmeter::Node& n) { return size_t(call.read("macs", n).count().value()); });
  if (sum == 0) throw tmeter::Error("nothing was read");
}

}  // namespace

TMETER_PLUGIN("com.tmeter.accessors", "1.0.0", [](tmeter::Registrar& r) {
  r.metric(
      {.id = "accessors", .title = "accessors", .axis = TMETER_AXIS_MODEL, .convention = "none"});
  r.analysis("accessors", "macs", "", measure);
})
