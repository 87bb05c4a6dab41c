// Observes runs of the model (`--inference`): the time of each operator's fastest run.
#include <algorithm>
#include <map>
#include <tmeter/cpp/observer.hpp>

namespace {

class Fastest final : public tmeter::Observer {
 public:
  void begin(const tmeter::Graph&, tmeter::ObserverCall& call) override {
    call.want(TMETER_RUN_OPERATORS);  // one such run in every round
  }
  // Time spent here counts as time of the model, so this only stores times.
  void event(const tmeter_event& e, tmeter::ObserverCall&) override {
    runs_ += e.kind == TMETER_EVENT_RUN_END;
    if (e.kind != TMETER_EVENT_OP_END) return;
    const auto took = e.nanoseconds - e.since;
    const auto [at, is_new] = fastest_.try_emplace(e.node, took);
    if (!is_new) at->second = std::min(at->second, took);
  }
  bool enough(tmeter::ObserverCall&) override { return runs_ >= 5; }
  void end(const tmeter::Graph& graph, tmeter::ObserverCall& call) override {
    for (const auto& node : graph.nodes()) {
      const auto at = fastest_.find(node.handle());
      if (at == fastest_.end()) continue;  // the runs stopped before this operator: unavailable
      call.emit("@name@", TMETER_AXIS_NODE, node.index(),
                tmeter::Cell(static_cast<double>(at->second) * 1e-9));
    }
  }

 private:
  std::map<const tmeter_node*, uint64_t> fastest_;  // nanoseconds
  int runs_ = 0;
};

}  // namespace

// Runs are new in ABI 1.1; an older host never requests them.
TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{.id = "com.example.@name@", .version = "1.0.0", .abi_minor = 1}),
    [](tmeter::Registrar& r) {
      r.metric({.id = "@name@",
                .title = "fastest",
                .unit = "s",
                .unit_kind = TMETER_UNIT_SECOND,
                .axis = TMETER_AXIS_NODE,
                .convention = "time from an operator's start to its end, in its fastest run",
                .description = "shortest times of the operators"});
      tmeter::observer<Fastest>(r, "@name@", "@name@");
    });
