// A third-party loader that pushes a small model through the C tables: a root, one call of it, a
// parameter, an operator. CONTRACT selects a misuse (tests/cli/test_contract.py has the table);
// MATCH and SCORE are its match pattern and score.
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <tmeter/cpp/loader.hpp>
#include <tmeter/cpp/plugin.hpp>
#include <tmeter/cpp/shape_rule.hpp>
#include <vector>

namespace {

std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}
std::string mode() { return setting("CONTRACT", ""); }

constexpr size_t kHuge = SIZE_MAX / 2;
tmeter_str text(std::string_view s) { return tmeter::to_abi(s); }

/// The builder; its refusals are ignored.
struct Push {
  tmeter_builder* b;
  const tmeter_builder_api& api = tmeter::detail::builder_api();

  tmeter_id module(tmeter_id parent, std::string_view name, std::string_view type = "acme.Net") {
    tmeter_id id = 0;
    api.module(b, parent, text(name), text(type), &id);
    return id;
  }
  tmeter_id call(tmeter_id module, tmeter_id parent) {
    tmeter_id id = 0;
    api.module_call(b, module, parent, &id);
    return id;
  }
  tmeter_tensor_desc weight() {
    static const int64_t dims[] = {4, 3};
    tmeter_tensor_desc d{};
    d.struct_size = sizeof d;
    d.name = text("weight");
    d.owner = 1;
    d.dtype = TMETER_DTYPE_FLOAT32;
    d.dims = dims, d.rank = 2;
    d.file_offset = -1;
    d.trainable = 1;
    return d;
  }
  tmeter_id tensor(const tmeter_tensor_desc& d) {
    tmeter_id id = 0;
    api.tensor(b, &d, &id);
    return id;
  }
  tmeter_id value(std::vector<int64_t> sizes = {1, 4}) {
    std::vector<tmeter_dim> dims;
    for (const auto s : sizes) dims.push_back({s, 0, 0});
    tmeter_id id = 0;
    api.value_tensor(b, TMETER_DTYPE_FLOAT32, dims.data(), dims.size(), &id);
    return id;
  }
  tmeter_id bound(tmeter_id tensor) {
    tmeter_id id = 0;
    api.value_bound(b, tensor, &id);
    return id;
  }
  tmeter_id list(const std::vector<tmeter_id>& items) {
    tmeter_id id = 0;
    api.value_list(b, items.data(), items.size(), &id);
    return id;
  }
  tmeter_id node(const std::vector<tmeter_arg>& args, const std::vector<tmeter_id>& results,
                 tmeter_id call = 1, std::string_view op = "aten::relu") {
    tmeter_node_desc d{};
    d.struct_size = sizeof d;
    d.module_call = call;
    d.op = text(op);
    d.args = args.data(), d.arg_count = args.size();
    d.results = results.data(), d.result_count = results.size();
    tmeter_id id = 0;
    api.node(b, &d, &id);
    return id;
  }
};
tmeter_arg arg(tmeter_id value) { return {text("self"), value, 0}; }

void good_model(Push& p) {
  const auto root = p.module(0, "");
  const auto call = p.call(root, 0);
  p.bound(p.tensor(p.weight()));
  const auto x = p.value(), y = p.value();
  p.api.input(p.b, text("x"), text("recorded"), x);
  p.node({arg(x)}, {y}, call);
  p.api.output(p.b, y);
}

tmeter_call* loading = nullptr;  // the call of the running loader

/// A builder for shape rules that has already been ended.
tmeter_builder* ended_builder() {
  const auto& rules = tmeter::detail::shape_rules_api();
  auto* b = rules.begin(loading);
  rules.end(b);
  return b;
}

using Deed = std::function<void(Push&)>;
/// Misuse after a good model; the plugin ignores the refusals.
const std::map<std::string, Deed> kDeeds{
    {"node-of-no-call", [](Push& p) { p.node({}, {}, 99), p.node({arg(2)}, {p.value()}); }},
    {"node-of-no-value", [](Push& p) { p.node({arg(4711)}, {}); }},
    {"node-dangling", [](Push& p) { p.node({arg(p.value())}, {p.value()}); }},
    {"node-no-result", [](Push& p) { p.node({}, {4711}); }},
    {"node-null-args",
     [](Push& p) {
       tmeter_node_desc d{};
       d.struct_size = sizeof d, d.module_call = 1, d.arg_count = 2;
       tmeter_id id = 0;
       p.api.node(p.b, &d, &id);
     }},
    {"node-huge-results",
     [](Push& p) {
       tmeter_node_desc d{};
       const tmeter_id one = 1;
       d.struct_size = sizeof d, d.module_call = 1, d.results = &one, d.result_count = kHuge;
       tmeter_id id = 0;
       p.api.node(p.b, &d, &id);
     }},
    {"node-reserved",
     [](Push& p) {
       tmeter_arg a = arg(2);
       a.reserved = 1;
       p.node({a}, {});
     }},
    {"node-small",
     [](Push& p) {
       tmeter_node_desc d{};
       d.struct_size = 8;
       tmeter_id id = 0;
       p.api.node(p.b, &d, &id);
     }},
    {"node-name", [](Push& p) { p.api.node_name(p.b, 4711, text("n")); }},
    {"module-of-none", [](Push& p) { p.module(4711, "a"); }},
    {"module-second-root", [](Push& p) { p.module(0, ""); }},
    {"module-twice", [](Push& p) { p.module(1, "a"), p.module(1, "a"); }},
    {"module-deep",
     [](Push& p) {
       tmeter_id at = 1;
       for (int i = 0; i < 2000; ++i) at = p.module(at, "a");
     }},
    {"module-long", [](Push& p) { p.module(1, std::string(5000, 'x')); }},
    {"call-of-none", [](Push& p) { p.call(4711, 1); }},
    {"call-parent", [](Push& p) { p.call(1, 4711); }},
    {"calls-deep",
     [](Push& p) {
       tmeter_id at = 1;
       for (int i = 0; i < 200'000; ++i) at = p.call(1, at);
       p.node({arg(2)}, {p.value()}, at);
     }},
    {"attribute-of-none", [](Push& p) { p.api.module_attribute(p.b, 4711, text("a"), 1); }},
    {"tensor-owner",
     [](Push& p) {
       auto d = p.weight();
       d.owner = 4711, d.name = {};
       p.tensor(d);
     }},
    {"tensor-twice", [](Push& p) { p.tensor(p.weight()); }},
    {"tensor-negative",
     [](Push& p) {
       auto d = p.weight();
       const int64_t dims[] = {-1, 3};
       d.dims = dims, d.name = {};
       p.tensor(d);
     }},
    {"tensor-overflow",
     [](Push& p) {
       auto d = p.weight();
       const int64_t dims[] = {INT64_MAX, 3};
       d.dims = dims, d.name = {};
       p.tensor(d);
     }},
    {"tensor-empty-overflow",
     [](Push& p) {
       auto d = p.weight();
       const int64_t dims[] = {0, INT64_MAX, INT64_MAX};
       d.dims = dims, d.rank = 3, d.name = {};
       p.tensor(d);
     }},
    {"tensor-null-dims",
     [](Push& p) {
       auto d = p.weight();
       d.dims = nullptr, d.name = {};
       p.tensor(d);
     }},
    {"tensor-rank",
     [](Push& p) {
       auto d = p.weight();
       d.rank = kHuge, d.name = {};
       p.tensor(d);
     }},
    {"tensor-reserved",
     [](Push& p) {
       auto d = p.weight();
       d.reserved = 1, d.name = {};
       p.tensor(d);
     }},
    {"tensor-of-another-source",
     [](Push& p) {
       auto d = p.weight();
       d.source = reinterpret_cast<const tmeter_source*>(&p), d.name = {};
       p.tensor(d);
     }},
    {"tensor-beyond-file",
     [](Push& p) {
       auto d = p.weight();
       d.file_offset = 0, d.storage_bytes = 1'000'000, d.name = {};
       p.tensor(d);
     }},
    {"tensor-negative-offset",
     [](Push& p) {
       auto d = p.weight();
       d.file_offset = 0, d.storage_bytes = 1, d.storage_offset = INT64_MIN, d.name = {};
       p.tensor(d);
     }},
    {"value-rank",
     [](Push& p) {
       const tmeter_dim one{1, 0, 0};
       tmeter_id id = 0;
       p.api.value_tensor(p.b, TMETER_DTYPE_FLOAT32, &one, kHuge, &id);
     }},
    {"value-null-dims",
     [](Push& p) {
       tmeter_id id = 0;
       p.api.value_tensor(p.b, TMETER_DTYPE_FLOAT32, nullptr, 3, &id);
     }},
    {"value-negative", [](Push& p) { p.value({-7}); }},
    {"value-expr",
     [](Push& p) {
       const tmeter_dim dim{1, 4711, 0};
       tmeter_id id = 0;
       p.api.value_tensor(p.b, TMETER_DTYPE_FLOAT32, &dim, 1, &id);
     }},
    {"value-reserved",
     [](Push& p) {
       tmeter_id id = 0;
       p.api.value_int(p.b, {1, 0, 7}, &id);
     }},
    {"value-bound", [](Push& p) { p.bound(4711); }},
    {"list-null",
     [](Push& p) {
       tmeter_id id = 0;
       p.api.value_list(p.b, nullptr, 3, &id);
     }},
    {"list-huge",
     [](Push& p) {
       tmeter_id id = 1;
       p.api.value_list(p.b, &id, kHuge, &id);
     }},
    {"list-of-nothing", [](Push& p) { p.list({4711}); }},
    {"list-deep",
     [](Push& p) {
       auto at = p.list({});
       for (int i = 0; i < 70; ++i) at = p.list({at});
     }},
    {"list-doubles",  // 2^60 values from 60 lists
     [](Push& p) {
       auto at = p.value();
       for (int i = 0; i < 60; ++i) at = p.list({at, at});
       p.node({arg(at)}, {});
     }},
    {"expr-null",
     [](Push& p) {
       tmeter_id id = 0;
       p.api.expr(p.b, TMETER_EXPR_ADD, nullptr, 2, &id);
     }},
    {"expr-huge",
     [](Push& p) {
       tmeter_id id = 1;
       p.api.expr(p.b, TMETER_EXPR_ADD, &id, kHuge, &id);
     }},
    {"expr-unknown",
     [](Push& p) {
       tmeter_id id = 1;
       p.api.expr(p.b, -1, &id, 1, &id);
     }},
    {"symbol-range",
     [](Push& p) {
       tmeter_id id = 0;
       p.api.symbol(p.b, text("s"), 5, 1, 3, &id);
     }},
    {"input-of-none", [](Push& p) { p.api.input(p.b, text("y"), text("recorded"), 4711); }},
    {"input-wanted",
     [](Push& p) {
       const int64_t dims[] = {1};
       p.api.want_input(p.b, text("x"), dims, 1);
     }},
    {"input-null-dims", [](Push& p) { p.api.want_input(p.b, text("x"), nullptr, 2); }},
    {"output-of-none", [](Push& p) { p.api.output(p.b, 4711); }},
    {"property-long",
     [](Push& p) { p.api.property(p.b, text("k"), text(std::string(1 << 20, 'x'))); }},
    {"properties-many",
     [](Push& p) {
       for (int i = 0; i < 2000; ++i) p.api.property(p.b, text(std::to_string(i)), text("v"));
     }},
    {"builder-on-a-thread", [](Push& p) { std::thread([&] { p.module(1, "late"); }).join(); }},
    {"rule-end-twice", [](Push&) { tmeter::detail::shape_rules_api().end(ended_builder()); }},
    {"rule-end-of-the-model", [](Push& p) { tmeter::detail::shape_rules_api().end(p.b); }},
    {"rule-end-of-nothing",
     [](Push& p) {
       tmeter::detail::shape_rules_api().end(nullptr);
       tmeter::detail::shape_rules_api().end(reinterpret_cast<tmeter_builder*>(&p));
     }},
    {"rule-push-after-end", [](Push&) { Push{ended_builder()}.value(); }},
    {"rule-value-after-end",
     [](Push&) {
       if (tmeter::detail::shape_rules_api().value(ended_builder(), 1)) std::abort();
     }},
    {"rule-infer-after-end",
     [](Push&) {
       tmeter_str why{};
       tmeter::detail::shape_rules_api().infer(loading, text("acme::x"), ended_builder(), nullptr,
                                               0, nullptr, 0, &why);
     }},
    {"rule-end-between",  // the second builder may have the address of the first
     [](Push&) {
       const auto& rules = tmeter::detail::shape_rules_api();
       auto* first = ended_builder();
       auto* second = rules.begin(loading);
       rules.end(first);
       rules.end(second);
     }},
    {"rule-never-ended",
     [](Push&) {
       for (int i = 0; i < 10; ++i) Push{tmeter::detail::shape_rules_api().begin(loading)}.value();
     }},
    {"rule-many",
     [](Push&) {
       for (int i = 0; i < 100'000; ++i) ended_builder();
     }},
    {"texts-broken",
     [](Push& p) {
       const auto m = p.module(1, "a\xff\x1b[2J\n", "b\xfe\n");
       p.node({{text("c\xff"), 2, 0}}, {}, p.call(m, 1), "acme::\xff\x1b[2J");
       p.api.property(p.b, text("name"), text("\xff\x1b[2J\n"));
     }},
};

tmeter_builder* kept = nullptr;

tmeter_status TMETER_ABI load(tmeter_call* call, const tmeter_request*, tmeter_builder* builder,
                              void*) {
  Push p{builder};
  kept = builder;
  loading = call;
  const auto name = mode().substr(0, mode().find('/'));
  if (name == "no-root") return TMETER_OK;
  if (name == "values-without-root") return p.value(), TMETER_OK;
  good_model(p);
  if (const auto deed = kDeeds.find(name); deed != kDeeds.end()) deed->second(p);
  if (mode().ends_with("/goes-on")) {
    const auto x = p.value(), y = p.value();  // as if nothing had happened
    p.api.input(p.b, text("z"), text("recorded"), x);
    p.node({arg(x)}, {y}, p.call(p.module(1, "more"), 1));
  }
  if (mode().ends_with("/heeds")) return TMETER_BAD_MODEL;
  if (mode().ends_with("/declines")) return TMETER_UNSUPPORTED;
  return TMETER_OK;
}

}  // namespace

#define tmeter_plugin_v1 good_entry
TMETER_PLUGIN_INFO(
    (tmeter::PluginInfo{.id = "com.rogue.loader", .version = "1.0.0"}), [](tmeter::Registrar& r) {
      static const auto match = setting("MATCH", "magic:61636d65");
      static const auto score = std::stoi(setting("SCORE", "50"));
      r.loader("acme", "acme file", {{match, score}},
               [](const tmeter::Request&, tmeter::GraphBuilder&, tmeter::Call&) {});
      r.metric({.id = "own", .title = "own", .axis = TMETER_AXIS_NODE, .convention = "none"});
      r.op("*").handle("own", [](const tmeter::Node&) {
        tmeter_id id = 0;  // the builder has been ended
        if (mode() == "builder-kept") Push{kept}.module(1, "late");
        return tmeter::Count(1 + id);
      });
    })
#undef tmeter_plugin_v1

extern "C" TMETER_EXPORT const tmeter_plugin_entry_v1* tmeter_plugin_v1(void) {
  static tmeter_plugin_entry_v1 entry = *good_entry();
  entry.get_capability = [](tmeter_str id, void* user) -> const void* {
    const void* table = good_entry()->get_capability(id, user);
    if (table && tmeter::to_view(id) == TMETER_CAP_LOADER) {
      const auto* t = static_cast<const tmeter_loaders*>(table);
      auto* loader = const_cast<tmeter_loader*>(t->get(0, t->user));
      loader->load = load;
      if (mode() == "match-reserved") const_cast<tmeter_match*>(loader->matches)->reserved = 1;
      if (mode() == "match-huge") loader->match_count = 1u << 31;
    }
    return table;
  };
  return &entry;
}
