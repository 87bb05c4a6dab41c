// A plugin with every capability of the contract. $CUT makes one of its structs too small: "entry",
// "info", "tmeter.metrics/1" (the table) or "tmeter.metrics/1 item" (an item of it).
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <tmeter/cpp/executor.hpp>
#include <tmeter/cpp/observer.hpp>

namespace {

struct Elements final : tmeter::TensorAnalysis {
  void chunk(const tmeter::Chunk& c, tmeter::Call&) override { seen += c.count(); }
  void merge(tmeter::TensorAnalysis& other) override { seen += static_cast<Elements&>(other).seen; }
  void emit(const tmeter::Tensor& t, tmeter::Call& call) override {
    call.emit("elements_seen", TMETER_AXIS_TENSOR, t.index(), tmeter::Count(seen));
  }
  int64_t seen = 0;
};

/// Counts the events of the run.
class Runs final : public tmeter::Observer {
 public:
  void begin(const tmeter::Graph&, tmeter::ObserverCall& call) override {
    call.want(TMETER_RUN_OPERATORS);
  }
  void event(const tmeter_event& e, tmeter::ObserverCall&) override {
    steps_ += e.kind == TMETER_EVENT_OP_END;
  }
  void end(const tmeter::Graph&, tmeter::ObserverCall& call) override {
    call.emit("steps", TMETER_AXIS_MODEL, 0, tmeter::Count(steps_));
  }

 private:
  int64_t steps_ = 0;
};

/// One second per operator.
class Clock final : public tmeter::Execution {
 public:
  explicit Clock(const tmeter::Graph& graph) : graph_(graph) {}
  void run(int32_t run, int32_t, tmeter::ExecutorCall& call) override {
    tell(TMETER_EVENT_RUN_BEGIN, nullptr, 0, call);
    const auto since = now_;
    for (const auto node : graph_.nodes()) {
      const auto begun = now_;
      if (run == TMETER_RUN_OPERATORS) tell(TMETER_EVENT_OP_BEGIN, node.handle(), 0, call);
      now_ += 1'000'000'000;
      if (run == TMETER_RUN_OPERATORS) tell(TMETER_EVENT_OP_END, node.handle(), begun, call);
    }
    tell(TMETER_EVENT_RUN_END, nullptr, since, call);
  }

 private:
  void tell(int32_t kind, const tmeter_node* node, uint64_t since,
            tmeter::ExecutorCall& call) const {
    tmeter_event e{};
    e.struct_size = sizeof e;
    e.kind = kind;
    e.nanoseconds = now_;
    e.since = since;
    e.node = node;
    call.event(e);
  }
  tmeter::Graph graph_;
  uint64_t now_ = 1'000'000'000;
};

std::unique_ptr<tmeter::Execution> prepare(const tmeter::Graph& graph,
                                           const tmeter_run_request& request,
                                           tmeter::ExecutorCall& call) {
  if (request.threads < 1) throw tmeter::Error(TMETER_BAD_USAGE, "no threads");
  call.fact("engine", "a clock");
  return std::make_unique<Clock>(graph);
}

/// Every struct that an analysis passes to the host or receives from it.
void analyse(const tmeter::Graph& graph, tmeter::Call& call) {
  tmeter::Finding finding;
  finding.rule = "every-table";
  finding.text = graph.property("file");
  call.add(finding);
  tmeter::Distribution distribution;
  distribution.id = "every";
  distribution.edges = {0, 1};
  distribution.counts = {call.option_int("step") == 7 ? 7u : 0u};
  call.add(distribution);
  tmeter::Series series;
  series.id = "every";
  series.x = {1, 2};
  series.y = {2, 1};
  call.add(series);
}

void write(const tmeter::Report& report, tmeter::Output& out, tmeter::Call&) {
  for (const auto& m : report.metrics()) out.print("{}={} ", m.id(), report.total(m));
  for (const auto& s : report.graph().symbols()) out.print("symbol {} ", tmeter::to_view(s.name));
  out.print("findings {} distributions {} series {}\n",
            tmeter::Count(int64_t(report.findings().size())),
            tmeter::Count(int64_t(report.distributions().size())),
            tmeter::Count(int64_t(report.series().size())));
}

void set_up(tmeter::Registrar& r) {
  r.option({.key = "step", .type = TMETER_OPTION_INT, .default_value = "7", .text = "a number"});
  r.metric({.id = "nodes", .title = "nodes", .unit = "node", .convention = "1 an operator"});
  r.metric({.id = "elements_seen",
            .title = "elements",
            .unit = "element",
            .axis = TMETER_AXIS_TENSOR,
            .convention = "1 an element"});
  r.op("*").handle("nodes", [](const tmeter::Node&) { return tmeter::Count(1); });
  r.module_type("acme.nn.Nowhere", "nodes",
                [](const tmeter::Graph&, const tmeter::ModuleCall&, tmeter::Call&) {
                  return tmeter::Cell(tmeter::Count(1));
                });
  r.op("acme::nowhere(Tensor x) -> Tensor").work("matmul").shape([](tmeter::ShapeCall& c) {
    c.give_like("x");
  });
  r.analysis("every", "nodes", "", analyse);
  r.tensor_analysis("elements", "elements_seen", {}, [](const tmeter::TensorPart&, tmeter::Call&) {
    return std::make_unique<Elements>();
  });
  r.loader("nowhere", "nothing there is", {{"name:*.nowhere", 50}},
           [](const tmeter::Request&, tmeter::GraphBuilder&, tmeter::Call&) {});
  r.propagator("nowhere", [](const tmeter::Graph&, tmeter::GraphBuilder&, tmeter::Call&) {
    throw tmeter::Error(TMETER_UNSUPPORTED, "");
  });
  r.metric({.id = "steps",
            .title = "steps",
            .unit = "step",
            .axis = TMETER_AXIS_MODEL,
            .aggregation = TMETER_AGGREGATE_NONE,
            .convention = "1 an operator that ran"});
  tmeter::observer<Runs>(r, "runs", "steps");
  tmeter::executor<prepare>(r, "a clock");
  r.writer("every", "every", "text/plain", write);
}

const std::string& wish() {
  static const std::string text = std::getenv("CUT") ? std::getenv("CUT") : "";
  return text;
}

/// A copy that declares itself 8 bytes shorter.
template <class T>
T* cut(const T* whole) {
  auto* copy = new T(*whole);
  copy->struct_size -= 8;
  return copy;
}

/// The common beginning of all lists' items.
struct AnyItem {
  uint32_t struct_size;
};
struct AnyList {
  uint32_t struct_size, count;
  const AnyItem*(TMETER_ABI* get)(uint32_t, void*);
  void* user;
};

const void* spoiled(std::string_view id, const void* table) {
  if (!table || !wish().starts_with(id)) return table;
  if (wish() == id) return cut(static_cast<const AnyList*>(table));
  const auto* list = static_cast<const AnyList*>(table);
  const_cast<AnyItem*>(list->get(0, list->user))->struct_size -= 8;
  return table;
}

}  // namespace

#define tmeter_plugin_v1 good_entry
TMETER_PLUGIN_INFO((tmeter::PluginInfo{.id = "com.acme.every", .version = "1.0.0"}),
                   [](tmeter::Registrar& r) { set_up(r); })
#undef tmeter_plugin_v1

extern "C" TMETER_EXPORT const tmeter_plugin_entry_v1* tmeter_plugin_v1(void) {
  static tmeter_plugin_entry_v1 entry = *good_entry();
  entry.get_capability = [](tmeter_str id, void* user) -> const void* {
    return spoiled(tmeter::to_view(id), good_entry()->get_capability(id, user));
  };
  if (wish() == "entry") entry.struct_size -= 8;
  if (wish() == "info") entry.info = cut(entry.info);
  return &entry;
}
