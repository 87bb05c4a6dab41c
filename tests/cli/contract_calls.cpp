// A third-party plugin that uses the host's functions as a careless author would: through the C
// tables, ignoring their return values. CONTRACT selects the misuse; tests/cli/test_contract.py has
// the table of expected messages. Without CONTRACT it is a correct plugin with one metric and one
// writer.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <tmeter/cpp/observer.hpp>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

namespace {

std::string mode() {
  const char* wish = std::getenv("CONTRACT");
  return wish ? wish : "";
}

const tmeter_str kNowhere{nullptr, 100};  // a string of 100 bytes without memory
constexpr size_t kHuge = SIZE_MAX / 2;

tmeter_str text(std::string_view s) { return tmeter::to_abi(s); }
const auto& calls() { return tmeter::detail::call_api(); }
const auto& results() { return tmeter::detail::results_api(); }

// --- misuse in an analysis

tmeter_finding finding(std::string_view rule = "rule", std::string_view words = "text") {
  tmeter_finding f{};
  f.struct_size = sizeof f;
  f.rule = text(rule);
  f.text = text(words);
  return f;
}
void add(tmeter_call* call, const tmeter_finding& f) {
  tmeter::detail::findings_api().add(call, &f);
}

void add_many(tmeter_call* call, int64_t count) {
  for (int64_t i = 0; i < count; ++i) add(call, finding("rule", "text " + std::to_string(i)));
}

tmeter_target model() { return {TMETER_AXIS_MODEL, 0, 0}; }

tmeter_distribution histogram(const std::vector<double>& edges,
                              const std::vector<uint64_t>& counts) {
  tmeter_distribution d{};
  d.struct_size = sizeof d;
  d.id = text("values"), d.title = text("values"), d.of = model();
  d.edges = edges.data(), d.counts = counts.data(), d.bin_count = counts.size();
  return d;
}
void add(tmeter_call* call, const tmeter_distribution& d) {
  tmeter::detail::distributions_api().add(call, &d);
}

tmeter_series curve(const std::vector<double>& x, const std::vector<double>& y) {
  tmeter_series s{};
  s.struct_size = sizeof s;
  s.id = text("curve"), s.title = text("curve"), s.of = model();
  s.x = x.data(), s.y = y.data(), s.point_count = x.size();
  return s;
}
void add(tmeter_call* call, const tmeter_series& s) {
  tmeter::detail::distributions_api().add_series(call, &s);
}

void emit(tmeter_call* call, size_t row, tmeter_number n, std::string_view metric = "own") {
  results().emit_at(call, text(metric), TMETER_AXIS_NODE, row, n);
}
tmeter_number integer(int64_t i) { return {TMETER_NUMBER_INT, 0, i, 0}; }
tmeter_number real(double f) { return {TMETER_NUMBER_FLOAT, 0, 0, f}; }

tmeter_call* kept_call = nullptr;      // of `init`
tmeter_output* kept_output = nullptr;  // of a writer

using Deed = std::function<void(tmeter_call*, const tmeter_graph*)>;
const std::map<std::string, Deed> kDeeds{
    {"findings-40000", [](auto* c, auto*) { add_many(c, 40'000); }},
    {"findings-millions", [](auto* c, auto*) { add_many(c, 3'000'000); }},
    {"findings-null-targets",
     [](auto* c, auto*) {
       auto f = finding();
       f.target_count = 3;
       add(c, f);
     }},
    {"findings-huge-targets",
     [](auto* c, auto*) {
       auto f = finding();
       const auto target = model();
       f.targets = &target, f.target_count = kHuge;
       add(c, f);
     }},
    {"findings-reserved-target",
     [](auto* c, auto*) {
       auto f = finding();
       auto target = model();
       target.reserved = 7;
       f.targets = &target, f.target_count = 1;
       add(c, f);
     }},
    {"findings-null-changes",
     [](auto* c, auto*) {
       auto f = finding();
       f.change_count = 1;
       add(c, f);
     }},
    {"findings-huge-changes",
     [](auto* c, auto*) {
       auto f = finding();
       const tmeter_change change{text("macs"), 1, 2};
       f.changes = &change, f.change_count = kHuge;
       add(c, f);
     }},
    {"findings-infinite-change",
     [](auto* c, auto*) {
       auto f = finding();
       const tmeter_change change{text("macs"), 1, std::numeric_limits<double>::infinity()};
       f.changes = &change, f.change_count = 1;
       add(c, f);
     }},
    {"findings-negative-axis",
     [](auto* c, auto*) {
       auto f = finding();
       const tmeter_target target{-1, 0, 0};
       f.targets = &target, f.target_count = 1;
       add(c, f);
     }},
    {"findings-row",
     [](auto* c, auto*) {
       auto f = finding();
       const tmeter_target target{TMETER_AXIS_NODE, 0, kHuge};
       f.targets = &target, f.target_count = 1;
       add(c, f);
     }},
    {"findings-small",
     [](auto* c, auto*) {
       auto f = finding();
       f.struct_size = 8;
       add(c, f);
     }},
    {"findings-no-text",
     [](auto* c, auto*) {
       auto f = finding();
       f.text = {};
       add(c, f);
     }},
    {"findings-nowhere",
     [](auto* c, auto*) {
       auto f = finding();
       f.evidence = f.action = kNowhere;
       add(c, f);
     }},
    {"findings-control", [](auto* c, auto*) { add(c, finding("ru\x1b[2Jle", "a\nb \xff\x80 c")); }},
    {"findings-long", [](auto* c, auto*) { add(c, finding("rule", std::string(1 << 20, 'x'))); }},
    {"findings-rule-of-another",
     [](auto* c, auto*) {
       std::vector<tmeter_target> all{model()};
       const auto tensors = tmeter::detail::graph_api().tensor_count(calls().graph(c));
       for (size_t i = 0; i < tensors; ++i) all.push_back({TMETER_AXIS_TENSOR, 0, i});
       auto f = finding("memory-peak", "mine");
       f.targets = all.data(), f.target_count = all.size();
       add(c, f);
     }},
    {"distribution-null", [](auto* c, auto*) { add(c, histogram({}, {1})); }},
    {"distribution-huge",
     [](auto* c, auto*) {
       auto d = histogram({0, 1}, {1});
       d.bin_count = kHuge;
       add(c, d);
     }},
    {"distribution-bins-overflow",
     [](auto* c, auto*) {
       auto d = histogram({0, 1}, {1});
       d.bin_count = SIZE_MAX;
       add(c, d);
     }},
    {"distribution-nan",
     [](auto* c, auto*) {
       add(c, histogram({0, NAN}, {1}));
     }},
    {"distribution-falls",
     [](auto* c, auto*) {
       add(c, histogram({1, 0}, {1}));
     }},
    {"distribution-empty", [](auto* c, auto*) { add(c, histogram({}, {})); }},
    {"distribution-reserved",
     [](auto* c, auto*) {
       const std::vector<double> edges{0, 1};
       const std::vector<uint64_t> counts{1};
       auto d = histogram(edges, counts);
       d.of.reserved = 1;
       add(c, d);
     }},
    {"series-null", [](auto* c, auto*) { add(c, curve({}, {})); }},
    {"series-null-y",
     [](auto* c, auto*) {
       const std::vector<double> x{0, 1};
       auto s = curve(x, x);
       s.y = nullptr;
       add(c, s);
     }},
    {"series-huge",
     [](auto* c, auto*) {
       const std::vector<double> x{0, 1};
       auto s = curve(x, x);
       s.point_count = kHuge;
       add(c, s);
     }},
    {"series-infinite",
     [](auto* c, auto*) {
       const std::vector<double> x{0, 1}, y{0, INFINITY};
       add(c, curve(x, y));
     }},
    {"sum-integer",
     [](auto* c, auto*) { emit(c, 0, integer(INT64_MAX)), emit(c, 1, integer(INT64_MAX)); }},
    {"sum-real", [](auto* c, auto*) { emit(c, 0, real(1.7e308)), emit(c, 1, real(1.7e308)); }},
    {"row", [](auto* c, auto*) { emit(c, kHuge, integer(1)); }},
    {"metric-nowhere",
     [](auto* c, auto*) { results().emit_at(c, kNowhere, TMETER_AXIS_NODE, 0, integer(1)); }},
    {"emit-in-analysis", [](auto* c, auto*) { results().emit(c, integer(1)); }},
    {"convention-empty", [](auto* c, auto*) { results().set_convention(c, text("own"), {}); }},
    {"convention-control",
     [](auto* c, auto*) { results().set_convention(c, text("own"), text("a\x1b[2J\nb")); }},
    {"provenance-control",
     [](auto* c, auto*) {
       results().set_provenance(c, text("own"), TMETER_PROVENANCE_ESTIMATED, text("\xff\n"));
     }},
    {"warnings-40000",
     [](auto* c, auto*) {
       for (int i = 0; i < 40'000; ++i)
         calls().log(c, TMETER_LOG_WARNING, text("warning " + std::to_string(i)));
     }},
    {"warning-long",
     [](auto* c, auto*) { calls().log(c, TMETER_LOG_WARNING, text(std::string(1 << 20, 'x'))); }},
    {"warning-nowhere", [](auto* c, auto*) { calls().log(c, TMETER_LOG_WARNING, kNowhere); }},
    {"warning-level", [](auto* c, auto*) { calls().log(c, 4711, text("odd")); }},
    {"scratch-huge",
     [](auto* c, auto*) {
       if (calls().scratch(c, kHuge)) std::abort();
     }},
    {"option-nowhere",
     [](auto* c, auto*) {
       int64_t out = 0;
       if (calls().option_int(c, kNowhere, &out) == TMETER_OK) std::abort();
     }},
    {"read-axis",
     [](auto* c, auto*) {
       for (const int32_t axis : {-1, 5, INT32_MAX, INT32_MIN}) {
         tmeter_number out{TMETER_NUMBER_INT, 0, 7, 0};
         if (results().read(c, text("macs"), axis, 0, &out) != TMETER_OK) std::abort();
         if (out.kind != TMETER_NUMBER_NONE) std::abort();
       }
     }},
    {"graph-index",
     [](auto*, auto* g) {
       const auto& api = tmeter::detail::graph_api();
       if (api.node_at(g, kHuge) || api.tensor_at(g, kHuge) || api.module_at(g, kHuge))
         std::abort();
       if (api.property(g, kNowhere).len) std::abort();
       tmeter_symbol_info info{};
       if (api.symbol_at(g, kHuge, &info) != TMETER_INVALID_ARGUMENT) std::abort();
     }},
    {"class-of-nothing",
     [](auto* c, auto*) {
       tmeter_str out{};
       const char no_node[512]{};
       results().op_class(c, reinterpret_cast<const tmeter_node*>(no_node), &out);
     }},
    {"memory-of-nothing",
     [](auto* c, auto*) {
       int32_t memory = 0;
       size_t argument = 0;
       const char no_node[512]{};
       results().result_memory(c, reinterpret_cast<const tmeter_node*>(no_node), 0, &memory,
                               &argument);
     }},
    {"numbers-of-nothing",
     [](auto* c, auto*) {
       tmeter_bytes out{};
       const char no_tensor[512]{};
       const auto* tensor = reinterpret_cast<const tmeter_tensor*>(no_tensor);
       tmeter::detail::tensor_data_api().view(c, tensor, 0, 1, &out);
     }},
    {"numbers-range",
     [](auto* c, auto* g) {
       tmeter_bytes out{};
       const auto* tensor = tmeter::detail::graph_api().tensor_at(g, 0);
       for (const auto& [first, count] : std::vector<std::pair<int64_t, int64_t>>{
                {-1, 1}, {0, -1}, {INT64_MAX, 1}, {1, INT64_MAX}, {INT64_MIN, INT64_MIN}}) {
         if (tmeter::detail::tensor_data_api().view(c, tensor, first, count, &out) == TMETER_OK)
           std::abort();
       }
     }},
    {"runs-elsewhere",
     [](auto* c, auto*) { tmeter::detail::runs_api().want(c, TMETER_RUN_WHOLE, 0, 0); }},
    {"call-of-init",
     [](auto*, auto*) { calls().log(kept_call, TMETER_LOG_WARNING, text("from the past")); }},
    {"call-on-a-thread",
     [](auto* c, auto*) {
       std::thread([c] {
         add(c, finding());
         emit(c, 0, integer(7));
         calls().fail(c, text("not here"));
         calls().log(c, TMETER_LOG_WARNING, text("not here"));
         if (calls().graph(c) || calls().scratch(c, 8)) std::abort();
       }).join();
     }},
};

tmeter_status TMETER_ABI run_analysis(tmeter_call* call, const tmeter_graph* graph, void*) {
  if (const auto deed = kDeeds.find(mode()); deed != kDeeds.end()) deed->second(call, graph);
  return TMETER_OK;
}

tmeter_status TMETER_ABI write(tmeter_call*, const tmeter_report*, tmeter_output* out, void*) {
  const auto& api = tmeter::detail::output_api();
  const std::string_view line = "written\n";
  const tmeter_bytes bytes{reinterpret_cast<const uint8_t*>(line.data()), line.size()};
  api.write(out, bytes);
  if (mode() == "write-nowhere") api.write(out, {nullptr, 100});
  if (mode() == "write-on-a-thread")
    std::thread([&] { api.write(out, bytes), api.color(out), api.columns(out); }).join();
  kept_output = out;
  return TMETER_OK;
}

// --- capabilities

void set_up(tmeter::Registrar& r) {
  const auto wish = mode();
  r.metric({.id = "own", .title = "own", .axis = TMETER_AXIS_NODE, .convention = "none"});
  if (wish.starts_with("metrics-")) {
    static std::vector<std::string> ids;
    const auto count = std::stoul(wish.substr(8)) - 1;
    for (size_t i = 0; i < count; ++i) ids.push_back("m" + std::to_string(i));
    for (const auto& id : ids)
      r.metric({.id = id, .title = id, .axis = TMETER_AXIS_MODEL, .convention = "none"});
  }
  if (wish == "macs-overflow" || wish == "macs-absurd") {
    r.op("aten::conv2d")
        .handle(
            "macs",
            [](const tmeter::Node& n) {
              const bool one = mode() == "macs-absurd";  // FLOPs are twice the MACs and overflow
              return tmeter::Count(n.index() == 0 || !one ? INT64_MAX - 1000 : 1);
            },
            1);
  }
  if (wish.starts_with("count-")) {  // of the first operator, of the named metric
    static const auto metric = wish.substr(6);
    r.op("aten::conv2d")
        .handle(
            metric,
            [](const tmeter::Node& n) { return tmeter::Count(n.index() == 0 ? INT64_MAX / 2 : 1); },
            1);
  }
  if (wish.starts_with("real-")) {
    static const auto metric = wish.substr(5);
    r.op("aten::conv2d")
        .handle(
            metric, [](const tmeter::Node& n) { return n.index() == 0 ? 1e308 : 1.0; }, 1);
  }
  r.analysis("pass", "", wish.starts_with("macs-") ? "" : "own",
             [](const tmeter::Graph&, tmeter::Call&) {});
  r.writer("calls", "txt", "text/plain",
           [](const tmeter::Report&, tmeter::Output&, tmeter::Call&) {});
}

}  // namespace

#define tmeter_plugin_v1 good_entry
TMETER_PLUGIN_INFO((tmeter::PluginInfo{.id = "com.rogue.calls", .version = "1.0.0"}),
                   [](tmeter::Registrar& r) { set_up(r); })
#undef tmeter_plugin_v1

extern "C" TMETER_EXPORT const tmeter_plugin_entry_v1* tmeter_plugin_v1(void) {
  static tmeter_plugin_entry_v1 entry = *good_entry();
  entry.init = [](tmeter_call* call, const tmeter_host_v1* host, tmeter_str path,
                  void* user) -> tmeter_status {
    kept_call = call;
    if (mode().starts_with("init-prints")) std::puts("hello from init");
    if (mode().ends_with("fails")) {
      good_entry()->init(call, host, path, user);
      calls().fail(call, text("no, thank you"));
      return TMETER_INTERNAL;
    }
    return good_entry()->init(call, host, path, user);
  };
  entry.configure = [](tmeter_call* call, void*) -> tmeter_status {
    if (mode() == "configure-emits") emit(call, 0, integer(1));
    if (mode() == "configure-finds") add(call, finding());
    tmeter_number out{};
    if (mode() == "configure-reads") results().read(call, text("macs"), TMETER_AXIS_MODEL, 0, &out);
    return TMETER_OK;
  };
  entry.get_capability = [](tmeter_str id, void* user) -> const void* {
    const void* table = good_entry()->get_capability(id, user);
    if (table && tmeter::to_view(id) == TMETER_CAP_ANALYSIS) {
      const auto* t = static_cast<const tmeter_analyses*>(table);
      const_cast<tmeter_analysis*>(t->get(0, t->user))->run = run_analysis;
    }
    if (table && tmeter::to_view(id) == TMETER_CAP_METRICS && mode().ends_with("-one-buffer")) {
      static const auto* good = static_cast<const tmeter_metrics*>(table);
      static auto changed = *good;
      changed.get = [](uint32_t index, void* of) -> const tmeter_metric_desc* {
        static char buffer[16];
        static tmeter_metric_desc metric;
        metric = *good->get(index, of);
        metric.id = {buffer,
                     std::string_view(metric.id.ptr, metric.id.len).copy(buffer, sizeof buffer)};
        metric.title = metric.id;
        return &metric;
      };
      return &changed;
    }
    if (table && tmeter::to_view(id) == TMETER_CAP_REPORT_WRITER) {
      const auto* t = static_cast<const tmeter_writers*>(table);
      const_cast<tmeter_writer*>(t->get(0, t->user))->write = write;
    }
    return table;
  };
  entry.deinit = [](void* user) {
    const uint8_t late[] = "late\n";
    if (mode() == "write-afterwards") tmeter::detail::output_api().write(kept_output, {late, 5});
    good_entry()->deinit(user);
  };
  return &entry;
}
