// A third-party plugin that breaks the contract on demand. CONTRACT selects a misuse from the
// tables below. Without CONTRACT it is a correct plugin: two metrics, one of which reads the other,
// and a writer. rogue_plugin.cpp has the misuse that ends the whole process.
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cfenv>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <locale>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <tmeter/cpp/plugin.hpp>
#include <utility>

namespace {

std::string mode() {
  const char* wish = std::getenv("CONTRACT");
  return wish ? wish : "";
}

std::string_view text(std::string_view s) { return s; }

// --- process state it can leave behind, in any callback: CONTRACT="metric:locale"

const std::map<std::string, std::function<void()>> kLeftBehind{
    {"locale", [] { std::setlocale(LC_ALL, "C.UTF-8"); }},
    {"cxx-locale",
     [] {
       struct Comma : std::numpunct<char> {
         char do_decimal_point() const override { return ','; }
       };
       std::locale::global(std::locale(std::locale(), new Comma));
     }},
    {"thread-locale", [] { uselocale(newlocale(LC_ALL_MASK, "C.UTF-8", nullptr)); }},
    {"rounding", [] { std::fesetround(FE_UPWARD); }},
    {"traps", [] { feenableexcept(FE_DIVBYZERO | FE_INVALID); }},
    {"signal", [] { signal(SIGSEGV, SIG_IGN); }},
    {"blocked-signal",
     [] {
       sigset_t set;
       sigemptyset(&set);
       sigaddset(&set, SIGINT);
       pthread_sigmask(SIG_BLOCK, &set, nullptr);
     }},
    {"folder",
     [] {
       if (chdir("/usr/lib") != 0) std::abort();
     }},
    {"umask", [] { umask(0); }},
    {"thread", [] { std::thread([] { sleep(600); }).detach(); }},
};

void leave_behind(std::string_view where) {
  const auto wish = mode();
  if (!wish.starts_with(std::string(where) + ":")) return;
  static bool done = false;  // as in a handler that initialises something on its first call
  if (!std::exchange(done, true)) kLeftBehind.at(wish.substr(where.size() + 1))();
}

/// CONTRACT="signature:…": the handler declares that it depends on the operator's signature alone.
constexpr std::string_view kPromise = "signature:";
bool promises(std::string_view wish) { return wish.starts_with(kPromise); }

// --- misuse by a handler, through the C tables

tmeter_status emit(tmeter_call* call, tmeter_number n) {
  return tmeter::detail::results_api().emit(call, n);
}

/// Writes a pattern into scratch memory, reads another metric of this plugin whose handler does the
/// same, and returns whether the pattern is intact.
tmeter_status nested_scratch(tmeter_call* call, const tmeter_node* node) {
  constexpr size_t kBytes = 4096;
  auto* mine = static_cast<unsigned char*>(tmeter::detail::call_api().scratch(call, kBytes));
  std::memset(mine, 0xa5, kBytes);
  tmeter_number inner{};
  const auto status = tmeter::detail::results_api().read(
      call, tmeter::to_abi("inner"), TMETER_AXIS_NODE, tmeter::Node(node).index(), &inner);
  if (status != TMETER_OK) return status;
  for (size_t i = 0; i < kBytes; ++i) {
    if (mine[i] == 0xa5) continue;
    tmeter::detail::call_api().fail(call, tmeter::to_abi("scratch memory was taken away"));
    return TMETER_INTERNAL;
  }
  return emit(call, inner);
}

/// Sets the reason, reads the model once more, then fails.
tmeter_status nested_error(tmeter_call* call, const tmeter_node* node) {
  tmeter::detail::call_api().fail(call, tmeter::to_abi("the reason of the outer one"));
  tmeter_number inner{};
  tmeter::detail::results_api().read(call, tmeter::to_abi("inner"), TMETER_AXIS_NODE,
                                     tmeter::Node(node).index(), &inner);
  return TMETER_INTERNAL;
}

tmeter_status emit_at(tmeter_call* call, std::string_view metric, int32_t axis,
                      tmeter_number n = {TMETER_NUMBER_INT, 0, 123'456'789, 0}) {
  // A careless plugin ignores the host's answer.
  tmeter::detail::results_api().emit_at(call, tmeter::to_abi(metric), axis, 0, n);
  return TMETER_OK;
}

using Deed = std::function<tmeter_status(tmeter_call*, const tmeter_node*)>;

tmeter_status emit_float(tmeter_call* call, double value) {
  emit(call, {TMETER_NUMBER_FLOAT, 0, 0, value});
  return TMETER_OK;
}

const std::map<std::string, Deed> kMetricDeeds{
    {"nested-scratch", nested_scratch},
    {"nested-error", nested_error},
    {"throw-std",
     [](tmeter_call*, const tmeter_node*) -> tmeter_status { throw std::runtime_error("raw"); }},
    {"throw-int", [](tmeter_call*, const tmeter_node*) -> tmeter_status { throw 7; }},
    {"no-value", [](tmeter_call*, const tmeter_node*) -> tmeter_status { return TMETER_OK; }},
    {"no-reason",
     [](tmeter_call*, const tmeter_node*) -> tmeter_status { return TMETER_INTERNAL; }},
    {"odd-status", [](tmeter_call*, const tmeter_node*) -> tmeter_status { return 4711; }},
    {"cancels", [](tmeter_call*, const tmeter_node*) -> tmeter_status { return TMETER_CANCELLED; }},
    {"nan",
     [](tmeter_call* c, const tmeter_node*) {
       return emit_float(c, std::numeric_limits<double>::quiet_NaN());
     }},
    {"infinity",
     [](tmeter_call* c, const tmeter_node*) {
       return emit_float(c, -std::numeric_limits<double>::infinity());
     }},
    {"negative",
     [](tmeter_call* c, const tmeter_node*) {
       emit(c, {TMETER_NUMBER_INT, 0, -1, 0});
       return tmeter_status{TMETER_OK};
     }},
    {"kind",
     [](tmeter_call* c, const tmeter_node*) {
       emit(c, {99, 0, 1, 1});
       return tmeter_status{TMETER_OK};
     }},
    {"counts",
     [](tmeter_call* c, const tmeter_node*) {
       static int64_t calls = 0;
       return emit(c, {TMETER_NUMBER_INT, 0, ++calls, 0});
     }},
    {"place",
     [](tmeter_call* c, const tmeter_node* n) {
       const auto call = static_cast<int64_t>(tmeter::Node(n).call().index());
       return emit(c, {TMETER_NUMBER_INT, 0, call, 0});
     }},
    {"handler-emits-at",
     [](tmeter_call* c, const tmeter_node*) {
       emit_at(c, "macs", TMETER_AXIS_NODE);
       return emit(c, {TMETER_NUMBER_INT, 0, 1, 0});
     }},
};

const std::map<std::string, std::function<tmeter_status(tmeter_call*)>> kAnalysisDeeds{
    {"foreign-metric", [](tmeter_call* c) { return emit_at(c, "macs", TMETER_AXIS_NODE); }},
    {"no-such-metric", [](tmeter_call* c) { return emit_at(c, "mac", TMETER_AXIS_NODE); }},
    {"foreign-axis", [](tmeter_call* c) { return emit_at(c, "table", TMETER_AXIS_NODE); }},
    {"no-such-axis", [](tmeter_call* c) { return emit_at(c, "table", 77); }},
    {"negative-axis", [](tmeter_call* c) { return emit_at(c, "table", -1); }},
    {"analysis-nan",
     [](tmeter_call* c) {
       return emit_at(c, "table", TMETER_AXIS_TENSOR,
                      {TMETER_NUMBER_FLOAT, 0, 0, std::numeric_limits<double>::quiet_NaN()});
     }},
    {"foreign-convention",
     [](tmeter_call* c) {
       tmeter::detail::results_api().set_convention(c, tmeter::to_abi("macs"),
                                                    tmeter::to_abi("1 MAC = 17 FLOP"));
       return tmeter_status{TMETER_OK};
     }},
    {"foreign-provenance",
     [](tmeter_call* c) {
       tmeter::detail::results_api().set_provenance(
           c, tmeter::to_abi("macs"), TMETER_PROVENANCE_MEASURED, tmeter::to_abi("by hand"));
       return tmeter_status{TMETER_OK};
     }},
    {"provenance-kind",
     [](tmeter_call* c) {
       tmeter::detail::results_api().set_provenance(c, tmeter::to_abi("outer"), 99,
                                                    tmeter::to_abi("?"));
       return tmeter_status{TMETER_OK};
     }},
    {"severity",
     [](tmeter_call* c) {
       tmeter_finding f{};
       f.struct_size = sizeof f;
       f.severity = 99;
       f.rule = tmeter::to_abi("rule");
       f.text = tmeter::to_abi("text");
       tmeter::detail::findings_api().add(c, &f);
       return tmeter_status{TMETER_OK};
     }},
    {"analysis-throws", [](tmeter_call*) -> tmeter_status { throw std::runtime_error("raw"); }},
    {"analysis-throws-int", [](tmeter_call*) -> tmeter_status { throw 7; }},
};

tmeter_status TMETER_ABI eval_outer(tmeter_call* call, const tmeter_node* node, void*) {
  leave_behind("metric");
  const auto wish = mode();
  const auto name = promises(wish) ? wish.substr(kPromise.size()) : wish;
  if (const auto deed = kMetricDeeds.find(name); deed != kMetricDeeds.end())
    return deed->second(call, node);
  return emit(call, {TMETER_NUMBER_INT, 0, 1, 0});
}

tmeter_status TMETER_ABI run_analysis(tmeter_call* call, const tmeter_graph*, void*) {
  leave_behind("analysis");
  const auto deed = kAnalysisDeeds.find(mode());
  return deed != kAnalysisDeeds.end() ? deed->second(call) : tmeter_status{TMETER_OK};
}

tmeter_status TMETER_ABI write(tmeter_call*, const tmeter_report*, tmeter_output* out, void*) {
  leave_behind("writer");
  if (mode() == "writer-throws") throw std::runtime_error("raw");
  if (mode() == "writer-throws-int") throw 7;
  tmeter::Output(out).write("written\n");
  return TMETER_OK;
}

void set_up(tmeter::Registrar& r) {
  leave_behind("init");
  r.configure([](tmeter::Call&) { leave_behind("configure"); });
  const auto metric = [&](std::string_view id, int32_t axis) {
    r.metric({.id = id, .title = id, .axis = axis, .convention = "1 per operator"});
  };
  metric("outer", TMETER_AXIS_NODE);
  metric("inner", TMETER_AXIS_NODE);
  metric("table", TMETER_AXIS_TENSOR);
  r.op("*").handle("outer", [](const tmeter::Node& n) {
    if (mode() == "wrapper:argument") n.input("wieght");
    if (mode() == "wrapper:result") n.output(7);
    return tmeter::Count(1);
  });
  r.op("*").handle("inner", [](const tmeter::Node&, tmeter::Call& call) {
    std::memset(tmeter::detail::call_api().scratch(call.handle(), 4096), 0x5a, 4096);
    return tmeter::Count(1);
  });
  r.option({.key = "wish", .type = TMETER_OPTION_INT, .default_value = "1", .text = "a wish"});
  r.analysis("pass", "", "", [](const tmeter::Graph&, tmeter::Call&) {});
  r.writer("contract", "txt", "text/plain",
           [](const tmeter::Report&, tmeter::Output&, tmeter::Call&) {});
}

/// The wrapper's tables with contents the wrapper itself would not produce.
template <class Table, class Item>
void change_all(const void* table, void (*change)(Item&)) {
  const auto* t = static_cast<const Table*>(table);
  for (uint32_t i = 0; i < t->count; ++i) change(const_cast<Item&>(*t->get(i, t->user)));
}

/// CONTRACT="table:null-eval": a fault in a table.
struct Spoil {
  std::string_view capability;
  void (*change)(const void* table);
};
template <class Table, class Item, void (*Change)(Item&)>
void all(const void* table) {
  change_all<Table, Item>(table, Change);
}
using Metrics = tmeter_metrics;
using Metric = tmeter_metric_desc;
template <void (*Change)(Metric&)>
constexpr Spoil metrics() {
  return {TMETER_CAP_METRICS, all<Metrics, Metric, Change>};
}

const std::map<std::string, Spoil> kSpoils{
    {"null-eval",
     {TMETER_CAP_OP_HANDLER,
      all<tmeter_op_handlers, tmeter_op_handler, [](tmeter_op_handler& h) { h.eval = nullptr; }>}},
    {"null-run",
     {TMETER_CAP_ANALYSIS,
      all<tmeter_analyses, tmeter_analysis, [](tmeter_analysis& a) { a.run = nullptr; }>}},
    {"null-write",
     {TMETER_CAP_REPORT_WRITER,
      all<tmeter_writers, tmeter_writer, [](tmeter_writer& w) { w.write = nullptr; }>}},
    {"null-get",
     {TMETER_CAP_METRICS,
      [](const void* t) { const_cast<Metrics*>(static_cast<const Metrics*>(t))->get = nullptr; }}},
    {"no-size", metrics<[](Metric& m) { m.struct_size = 0; }>()},
    {"capability-throws",
     {TMETER_CAP_METRICS, [](const void*) { throw std::runtime_error("raw"); }}},
    {"get-throws",
     {TMETER_CAP_METRICS,
      [](const void* t) {
        const_cast<Metrics*>(static_cast<const Metrics*>(t))->get =
            [](uint32_t, void*) -> const Metric* { throw 7; };
      }}},
    {"reserved",
     {TMETER_CAP_ANALYSIS,
      all<tmeter_analyses, tmeter_analysis, [](tmeter_analysis& a) { a.reserved = 7; }>}},
    {"reserved-handler",
     {TMETER_CAP_OP_HANDLER,
      all<tmeter_op_handlers, tmeter_op_handler, [](tmeter_op_handler& h) { h.reserved = 7; }>}},
    {"reserved-writer",
     {TMETER_CAP_REPORT_WRITER,
      all<tmeter_writers, tmeter_writer, [](tmeter_writer& w) { w.reserved = 7; }>}},
    {"required",
     {TMETER_CAP_ANALYSIS, all<tmeter_analyses, tmeter_analysis,
                               [](tmeter_analysis& a) { a.required = tmeter::to_abi("mac"); }>}},
    {"long", metrics<[](Metric& m) {
       static const std::string long_text(10'000, 'x');
       m.title = tmeter::to_abi(long_text);
     }>()},
    {"long-name",
     {TMETER_CAP_REPORT_WRITER, all<tmeter_writers, tmeter_writer,
                                    [](tmeter_writer& w) {
                                      static const std::string long_text(2'000, 'x');
                                      w.name = tmeter::to_abi(long_text);
                                    }>}},
    {"many-handlers",
     {TMETER_CAP_OP_HANDLER,
      [](const void* t) {
        const_cast<tmeter_op_handlers*>(static_cast<const tmeter_op_handlers*>(t))->count = 70'000;
      }}},
    {"endless",
     {TMETER_CAP_METRICS,
      [](const void* t) {
        const_cast<Metrics*>(static_cast<const Metrics*>(t))->count = UINT32_MAX;
      }}},
    {"reserved-info", {}},
    {"id", metrics<[](Metric& m) { m.id = tmeter::to_abi("Bad Id"); }>()},
    {"twice", metrics<[](Metric& m) { m.id = tmeter::to_abi("same"); }>()},
    {"axis", metrics<[](Metric& m) {
       if (tmeter::to_view(m.id) == text("outer")) m.axis = 99;
     }>()},
    {"aggregation", metrics<[](Metric& m) {
       if (tmeter::to_view(m.id) == text("outer")) m.aggregation = -1;
     }>()},
    {"option-type",
     {TMETER_CAP_OPTIONS,
      all<tmeter_options, tmeter_option_desc, [](tmeter_option_desc& o) { o.type = 99; }>}},
    {"option-default",
     {TMETER_CAP_OPTIONS,
      all<tmeter_options, tmeter_option_desc,
          [](tmeter_option_desc& o) { o.default_value = tmeter::to_abi("x"); }>}},
    {"option-range",
     {TMETER_CAP_OPTIONS, all<tmeter_options, tmeter_option_desc,
                              [](tmeter_option_desc& o) { o.min = 5, o.max = 7; }>}},
    {"right", {}},
    {"convention", metrics<[](Metric& m) { m.convention = {}; }>()},
    {"escape", metrics<[](Metric& m) { m.title = tmeter::to_abi("\x1b[2Jgone"); }>()},
    {"foreign-produce",
     {TMETER_CAP_ANALYSIS, all<tmeter_analyses, tmeter_analysis,
                               [](tmeter_analysis& a) { a.produced = tmeter::to_abi("macs"); }>}},
    {"handler-twice",
     {TMETER_CAP_OP_HANDLER,
      all<tmeter_op_handlers, tmeter_op_handler,
          [](tmeter_op_handler& h) { h.metric = tmeter::to_abi("outer"); }>}},
    {"unknown-metric",
     {TMETER_CAP_OP_HANDLER, all<tmeter_op_handlers, tmeter_op_handler,
                                 [](tmeter_op_handler& h) {
                                   if (tmeter::to_view(h.metric) == text("inner"))
                                     h.metric = tmeter::to_abi("mac");
                                 }>}},
};

void spoil(std::string_view id, const void* table) {
  if (id == TMETER_CAP_OP_HANDLER && !mode().starts_with("wrapper:")) {
    change_all<tmeter_op_handlers, tmeter_op_handler>(table, [](tmeter_op_handler& h) {
      if (tmeter::to_view(h.metric) != text("outer")) return;
      h.eval = eval_outer;
      if (promises(mode())) h.flags |= TMETER_HANDLER_BY_SIGNATURE;
    });
  }
  if (id == TMETER_CAP_ANALYSIS) {
    change_all<tmeter_analyses, tmeter_analysis>(table,
                                                 [](tmeter_analysis& a) { a.run = run_analysis; });
  }
  if (id == TMETER_CAP_REPORT_WRITER)
    change_all<tmeter_writers, tmeter_writer>(table, [](tmeter_writer& w) { w.write = write; });
  const auto wish = mode();
  if (!wish.starts_with("table:")) return;
  const auto& deed = kSpoils.at(wish.substr(6));
  if (deed.capability == id) deed.change(table);
}

}  // namespace

#define tmeter_plugin_v1 good_entry
TMETER_PLUGIN_INFO((tmeter::PluginInfo{.id = "com.rogue.contract", .version = "1.0.0"}),
                   [](tmeter::Registrar& r) { set_up(r); })
#undef tmeter_plugin_v1

extern "C" TMETER_EXPORT const tmeter_plugin_entry_v1* tmeter_plugin_v1(void) {
  static tmeter_plugin_entry_v1 entry = *good_entry();
  entry.get_capability = [](tmeter_str id, void* user) -> const void* {
    const void* table = good_entry()->get_capability(id, user);
    if (table) spoil(tmeter::to_view(id), table);
    return table;
  };
  static tmeter_plugin_info info = *entry.info;
  if (mode() == "table:right") info.rights = tmeter::to_abi("threads gpu?");
  if (mode() == "table:reserved-info") info.reserved = 7;
  entry.info = &info;
  entry.deinit = [](void* user) {
    if (mode() == "deinit-throws") throw 7;
    good_entry()->deinit(user);
  };
  return &entry;
}
