// A host in one file: a hand-made graph and report, so that writers can be tested with cases that
// no single model file has (unknown cells, ties, hostile names). Include it in one source file of a
// test program; make one FakeReport at a time.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

struct tmeter_value {
  int32_t kind = TMETER_VALUE_NONE, dtype = TMETER_DTYPE_UNDEFINED;
  std::vector<int64_t> dims;
  std::vector<std::string> dim_texts;
  int64_t i = 0;
  double f = 0;
  std::string text;
  std::vector<tmeter_value> items;
  const tmeter_tensor* tensor = nullptr;
  const tmeter_node* producer = nullptr;
};

struct tmeter_node {
  size_t index = 0;
  std::string op, overload, location, name{};
  std::vector<std::pair<std::string, tmeter_value>> args;
  std::vector<tmeter_value> results;
  const tmeter_module_call* call = nullptr;
};

struct tmeter_module {
  size_t index = 0;
  std::string name, path, type;
  std::map<std::string, std::string> facts{};
  tmeter_module* parent = nullptr;
  std::vector<tmeter_module*> children;
  std::vector<tmeter_tensor*> tensors;
  std::vector<std::pair<std::string, tmeter_value>> attributes;
  size_t calls = 0;
};

struct tmeter_module_call {
  size_t index = 0;
  const tmeter_module* module = nullptr;
  const tmeter_module_call* parent = nullptr;
};

struct tmeter_tensor {
  size_t index = 0;
  std::string name;
  int32_t kind = TMETER_TENSOR_PARAMETER, dtype = TMETER_DTYPE_FLOAT32;
  std::vector<int64_t> dims;
  bool trainable = true;
  const tmeter_module* owner = nullptr;
  const tmeter_tensor* canonical = nullptr;
  int64_t file_offset = -1;
};

namespace fake {

struct Input {
  std::string name, origin;
  tmeter_value value;
};

struct Metric {
  std::string id{}, title{}, unit{};
  int32_t unit_kind = TMETER_UNIT_COUNT, axis = TMETER_AXIS_NODE;
  uint32_t flags = 0;
  std::string convention = "as counted";
  int32_t provenance = TMETER_PROVENANCE_COMPUTED;
  std::string provenance_text{}, plugin = "org.test.one";
  int32_t aggregation = TMETER_AGGREGATE_SUM;
};

struct Formula {
  size_t metric = 0, module = 0;
  uint32_t flags = 0;
  std::string text{};
  std::vector<int64_t> symbols{};
  std::vector<std::pair<int64_t, std::vector<int64_t>>> terms{};  // coefficient, powers
};

struct Sweep {
  std::vector<int64_t> symbols{};
  std::vector<std::vector<int64_t>> points{};
  std::vector<std::vector<tmeter_number>> totals{};  // per point, by metric
};

struct Assertion {
  std::string expression{}, subject{}, comparison{};
  tmeter_number value{}, limit{};
  bool holds = false;
  size_t metric = SIZE_MAX, module = 0;
};

inline tmeter_number integer(int64_t i) { return {TMETER_NUMBER_INT, 0, i, 0}; }
inline tmeter_number at_least(int64_t i) {
  return {TMETER_NUMBER_INT, TMETER_NUMBER_PARTIAL, i, 0};
}
inline tmeter_number real(double f) { return {TMETER_NUMBER_FLOAT, 0, 0, f}; }
inline tmeter_number unknown() { return {TMETER_NUMBER_UNKNOWN, 0, 0, 0}; }
inline tmeter_number unavailable() { return {TMETER_NUMBER_UNAVAILABLE, 0, 0, 0}; }
inline tmeter_number zero_by_rule() { return {TMETER_NUMBER_ZERO_BY_RULE, 0, 0, 0}; }

inline tmeter_value tensor_value(std::vector<int64_t> dims, int32_t dtype = TMETER_DTYPE_FLOAT32) {
  tmeter_value v;
  v.kind = TMETER_VALUE_TENSOR;
  v.dtype = dtype;
  v.dims = std::move(dims);
  return v;
}
inline tmeter_value int_value(int64_t i) {
  tmeter_value v;
  v.kind = TMETER_VALUE_INT;
  v.i = i;
  return v;
}

}  // namespace fake

struct tmeter_report {};
struct tmeter_graph {
  std::map<std::string, std::string> graph_properties, properties, views, config, plugins;
  std::deque<tmeter_node> nodes;
  std::deque<tmeter_module> modules;
  std::deque<tmeter_module_call> calls;
  std::deque<tmeter_tensor> tensors;
  std::deque<fake::Input> inputs;
  std::deque<tmeter_value> outputs;
  std::vector<tmeter_symbol_info> symbols;
  std::vector<fake::Metric> metrics;
  std::map<std::array<size_t, 3>, tmeter_number> cells;  // metric, axis, index
  std::string coverage_metric;
  std::array<uint64_t, 3> coverage{};  // counted, zero by rule, unknown
  std::vector<std::pair<std::string, uint64_t>> unknown_ops;
  std::vector<std::string> warnings;
  std::deque<tmeter::Finding> findings;
  std::deque<tmeter::Distribution> distributions;
  std::deque<tmeter::Series> series;
  std::string finding_plugin = "org.test.one";
  std::map<size_t, std::pair<size_t, size_t>> repeats;  // module → window, times
  std::vector<fake::Formula> formulas;
  fake::Sweep sweep;
  std::deque<fake::Assertion> assertions;
};
struct tmeter_output {
  std::string text;
  bool color = false;
  int columns = 0;
  size_t longest = 0;      // the longest piece written at once
  size_t room = SIZE_MAX;  // bytes until the disk is full
};

namespace fake {

inline tmeter_graph*& current() {
  static tmeter_graph* graph = nullptr;
  return graph;
}

inline tmeter_str str(const std::string& s) { return {s.data(), s.size()}; }

template <class Map>
tmeter_str lookup(const Map& map, tmeter_str key) {
  const auto it = map.find(std::string(tmeter::to_view(key)));
  return it == map.end() ? tmeter_str{} : str(it->second);
}

template <class Items>
auto at(const Items& items, size_t i) -> const typename Items::value_type* {
  return i < items.size() ? &items[i] : nullptr;
}

inline const tmeter_graph_api& graph_api() {
  using G = const tmeter_graph*;
  using N = const tmeter_node*;
  using V = const tmeter_value*;
  using M = const tmeter_module*;
  using C = const tmeter_module_call*;
  using T = const tmeter_tensor*;
  static const tmeter_graph_api api = [] {
    tmeter_graph_api a{};
    a.struct_size = sizeof a;
    a.property = [](G g, tmeter_str key) { return lookup(g->graph_properties, key); };
    a.node_count = [](G g) { return g->nodes.size(); };
    a.node_at = [](G g, size_t i) { return at(g->nodes, i); };
    a.module_count = [](G g) { return g->modules.size(); };
    a.module_at = [](G g, size_t i) { return at(g->modules, i); };
    a.module_call_count = [](G g) { return g->calls.size(); };
    a.module_call_at = [](G g, size_t i) { return at(g->calls, i); };
    a.tensor_count = [](G g) { return g->tensors.size(); };
    a.tensor_at = [](G g, size_t i) { return at(g->tensors, i); };
    a.symbol_count = [](G g) { return g->symbols.size(); };
    a.symbol_at = [](G g, size_t i, tmeter_symbol_info* out) -> tmeter_status {
      *out = g->symbols.at(i);
      return TMETER_OK;
    };
    a.input_count = [](G g) { return g->inputs.size(); };
    a.input_at = [](G g, size_t i) -> V { return &g->inputs.at(i).value; };
    a.input_name = [](G g, size_t i) { return str(g->inputs.at(i).name); };
    a.input_origin = [](G g, size_t i) { return str(g->inputs.at(i).origin); };
    a.output_count = [](G g) { return g->outputs.size(); };
    a.output_at = [](G g, size_t i) { return at(g->outputs, i); };

    a.node_index = [](N n) { return n->index; };
    a.node_op = [](N n) { return str(n->op); };
    a.node_overload = [](N n) { return str(n->overload); };
    a.node_arg_count = [](N n) { return n->args.size(); };
    a.node_arg_name = [](N n, size_t i) { return str(n->args.at(i).first); };
    a.node_arg = [](N n, size_t i) -> V { return &n->args.at(i).second; };
    a.node_result_count = [](N n) { return n->results.size(); };
    a.node_result = [](N n, size_t i) { return at(n->results, i); };
    a.node_module_call = [](N n) { return n->call; };
    a.node_location = [](N n) { return str(n->location); };
    a.node_name = [](N n) { return str(n->name); };

    a.value_kind = [](V v) { return v->kind; };
    a.value_dtype = [](V v) { return v->dtype; };
    a.value_dims = [](V v) { return tmeter_i64_span{v->dims.data(), v->dims.size()}; };
    a.value_dim_text = [](V v, size_t i) {
      return i < v->dim_texts.size() ? str(v->dim_texts[i]) : tmeter_str{};
    };
    a.value_int = [](V v) { return v->i; };
    a.value_float = [](V v) { return v->f; };
    a.value_text = [](V v) { return str(v->text); };
    a.value_size = [](V v) { return v->items.size(); };
    a.value_at = [](V v, size_t i) { return at(v->items, i); };
    a.value_tensor = [](V v) { return v->tensor; };
    a.value_producer = [](V v) { return v->producer; };

    a.module_index = [](M m) { return m->index; };
    a.module_name = [](M m) { return str(m->name); };
    a.module_path = [](M m) { return str(m->path); };
    a.module_type = [](M m) { return str(m->type); };
    a.module_parent = [](M m) -> M { return m->parent; };
    a.module_child_count = [](M m) { return m->children.size(); };
    a.module_child = [](M m, size_t i) -> M { return m->children.at(i); };
    a.module_calls = [](M m) { return m->calls; };
    a.module_tensor_count = [](M m) { return m->tensors.size(); };
    a.module_tensor = [](M m, size_t i) -> T { return m->tensors.at(i); };
    a.module_attribute_count = [](M m) { return m->attributes.size(); };
    a.module_attribute_name = [](M m, size_t i) { return str(m->attributes.at(i).first); };
    a.module_attribute = [](M m, size_t i) -> V { return &m->attributes.at(i).second; };

    a.module_call_index = [](C c) { return c->index; };
    a.module_call_module = [](C c) { return c->module; };
    a.module_call_parent = [](C c) { return c->parent; };

    a.tensor_index = [](T t) { return t->index; };
    a.tensor_name = [](T t) { return str(t->name); };
    a.tensor_kind = [](T t) { return t->kind; };
    a.tensor_dtype = [](T t) { return t->dtype; };
    a.tensor_dims = [](T t) { return tmeter_i64_span{t->dims.data(), t->dims.size()}; };
    a.tensor_strides = [](T) { return tmeter_i64_span{}; };
    a.tensor_numel = [](T t) {
      int64_t n = 1;
      for (const auto d : t->dims) n *= d;
      return n;
    };
    a.tensor_trainable = [](T t) { return int32_t{t->trainable}; };
    a.tensor_owner = [](T t) { return t->owner; };
    a.tensor_canonical = [](T t) { return t->canonical ? t->canonical : t; };
    a.tensor_file_offset = [](T t) { return t->file_offset; };
    return a;
  }();
  return api;
}

inline tmeter_i64_span span(const std::vector<int64_t>& v) { return {v.data(), v.size()}; }

inline tmeter_status metric_at(const tmeter_report*, size_t i, tmeter_metric_info* out) {
  const auto& m = current()->metrics.at(i);
  *out = {sizeof *out,
          m.flags,
          str(m.id),
          str(m.title),
          str(m.unit),
          m.unit_kind,
          m.axis,
          m.aggregation,
          TMETER_BETTER_LOWER,
          m.provenance,
          0,
          str(m.provenance_text),
          str(m.convention),
          {},
          str(m.plugin)};
  return TMETER_OK;
}

template <class Map>
tmeter_status pair_at(const Map& map, size_t i, tmeter_str* key, tmeter_str* value) {
  auto it = map.begin();
  std::advance(it, i);
  *key = str(it->first);
  *value = str(it->second);
  return TMETER_OK;
}

inline const tmeter_report_api& report_api() {
  using R = const tmeter_report*;
  static const tmeter_report_api api = [] {
    tmeter_report_api a{};
    a.struct_size = sizeof a;
    a.graph = [](R) -> const tmeter_graph* { return current(); };
    a.property = [](R, tmeter_str key) { return lookup(current()->properties, key); };
    a.view = [](R, tmeter_str key) { return lookup(current()->views, key); };
    a.metric_count = [](R) { return current()->metrics.size(); };
    a.metric_at = metric_at;
    a.cell = [](R, size_t metric, int32_t axis, size_t index) {
      const auto it = current()->cells.find({metric, static_cast<size_t>(axis), index});
      return it == current()->cells.end() ? tmeter_number{} : it->second;
    };
    a.coverage = [](R, tmeter_coverage* out) -> tmeter_status {
      const auto& [counted, zero, unknown] = current()->coverage;
      *out = {sizeof *out, 0, str(current()->coverage_metric), counted, zero, unknown};
      return TMETER_OK;
    };
    a.unknown_count = [](R) { return current()->unknown_ops.size(); };
    a.unknown_at = [](R, size_t i, tmeter_str* op, uint64_t* nodes) -> tmeter_status {
      *op = str(current()->unknown_ops.at(i).first);
      *nodes = current()->unknown_ops.at(i).second;
      return TMETER_OK;
    };
    a.warning_count = [](R) { return current()->warnings.size(); };
    a.warning_at = [](R, size_t i) { return str(current()->warnings.at(i)); };
    a.config_count = [](R) { return current()->config.size(); };
    a.config_at = [](R, size_t i, tmeter_str* k, tmeter_str* v) {
      return pair_at(current()->config, i, k, v);
    };
    a.plugin_count = [](R) { return current()->plugins.size(); };
    a.plugin_at = [](R, size_t i, tmeter_str* k, tmeter_str* v) {
      return pair_at(current()->plugins, i, k, v);
    };
    a.finding_count = [](R) { return current()->findings.size(); };
    a.finding_at = [](R, size_t i, tmeter_finding* out) -> tmeter_status {
      *out = current()->findings.at(i).abi();
      return TMETER_OK;
    };
    a.finding_plugin = [](R, size_t) { return str(current()->finding_plugin); };
    a.distribution_count = [](R) { return current()->distributions.size(); };
    a.distribution_at = [](R, size_t i, tmeter_distribution* out) -> tmeter_status {
      *out = current()->distributions.at(i).abi();
      return TMETER_OK;
    };
    a.series_count = [](R) { return current()->series.size(); };
    a.series_at = [](R, size_t i, tmeter_series* out) -> tmeter_status {
      *out = current()->series.at(i).abi();
      return TMETER_OK;
    };
    a.module_fact = [](R, size_t i, tmeter_str key) {
      return lookup(current()->modules.at(i).facts, key);
    };
    a.module_repeat = [](R, size_t i, size_t* window, size_t* times) -> int32_t {
      const auto it = current()->repeats.find(i);
      if (it == current()->repeats.end()) return 0;
      *window = it->second.first;
      *times = it->second.second;
      return 1;
    };
    a.formula_count = [](R) { return current()->formulas.size(); };
    a.formula_at = [](R, size_t i, tmeter_formula* out) -> tmeter_status {
      const auto& f = current()->formulas.at(i);
      *out = {sizeof *out, f.flags,         f.metric,      f.module,
              str(f.text), span(f.symbols), f.terms.size()};
      return TMETER_OK;
    };
    a.term_at = [](R, size_t i, size_t t, tmeter_term* out) -> tmeter_status {
      const auto& [coefficient, powers] = current()->formulas.at(i).terms.at(t);
      *out = {sizeof *out, 0, coefficient, 1, span(powers)};
      return TMETER_OK;
    };
    a.sweep = [](R, tmeter_sweep* out) -> tmeter_status {
      const auto& s = current()->sweep;
      *out = {sizeof *out, 0, span(s.symbols), s.points.size()};
      return TMETER_OK;
    };
    a.assertion_count = [](R) { return current()->assertions.size(); };
    a.assertion_at = [](R, size_t i, tmeter_assertion* out) -> tmeter_status {
      const auto& b = current()->assertions.at(i);
      *out = {sizeof *out, b.holds, str(b.expression), str(b.subject), str(b.comparison),
              b.value,     b.limit, b.metric,          b.module};
      return TMETER_OK;
    };
    a.sweep_point = [](R, size_t i) { return span(current()->sweep.points.at(i)); };
    a.sweep_total = [](R, size_t p, size_t m) { return current()->sweep.totals.at(p).at(m); };
    return a;
  }();
  return api;
}

inline const tmeter_output_api& output_api() {
  static const tmeter_output_api api{
      sizeof(tmeter_output_api), 0,
      [](tmeter_output* out, tmeter_bytes bytes) -> tmeter_status {
        if (out->text.size() + bytes.len > out->room) return TMETER_IO;
        out->text.append(reinterpret_cast<const char*>(bytes.ptr), bytes.len);
        out->longest = std::max(out->longest, bytes.len);
        return TMETER_OK;
      },
      [](const tmeter_output* out) { return int32_t{out->color}; },
      [](const tmeter_output* out) { return int32_t{out->columns}; }};
  return api;
}

inline const void* interface_by_id(const tmeter_host_v1*, tmeter_str id) {
  const auto name = tmeter::to_view(id);
  if (name == TMETER_HOST_GRAPH) return &graph_api();
  if (name == TMETER_HOST_REPORT) return &report_api();
  if (name == TMETER_HOST_OUTPUT) return &output_api();
  return nullptr;
}

/// The report under construction. Modules are added in pre-order.
class FakeReport : public tmeter_graph {
 public:
  FakeReport() {
    static const tmeter_host_v1 host{sizeof host, 0, {}, {}, interface_by_id};
    tmeter::detail::host() = &host;
    current() = this;
  }
  FakeReport(const FakeReport&) = delete;
  FakeReport& operator=(const FakeReport&) = delete;

  /// Adds `calls` calls of it, each from the parent's first call.
  tmeter_module* module(tmeter_module* parent, const std::string& name, const std::string& type,
                        size_t calls_made = 1) {
    auto& m = modules.emplace_back();
    m.index = modules.size() - 1;
    m.name = name;
    m.path = parent && !parent->path.empty() ? parent->path + "." + name : name;
    m.type = type;
    m.parent = parent;
    m.calls = calls_made;
    if (parent) parent->children.push_back(&m);
    for (size_t i = 0; i < calls_made; ++i)
      calls.push_back({calls.size(), &m, parent ? call_of(parent) : nullptr});
    return &m;
  }
  tmeter_tensor* tensor(tmeter_module* owner, const std::string& name, std::vector<int64_t> dims) {
    auto& t = tensors.emplace_back();
    t.index = tensors.size() - 1;
    t.name = owner->path.empty() ? name : owner->path + "." + name;
    t.dims = std::move(dims);
    t.owner = owner;
    owner->tensors.push_back(&t);
    return &t;
  }
  tmeter_node* node(const tmeter_module* module, const std::string& op) {
    auto& n = nodes.emplace_back();
    n.index = nodes.size() - 1;
    n.op = op;
    n.call = call_of(module);
    return &n;
  }
  size_t metric(Metric m) {
    metrics.push_back(std::move(m));
    return metrics.size() - 1;
  }
  void set(size_t metric, int32_t axis, size_t index, tmeter_number n) {
    cells[{metric, static_cast<size_t>(axis), index}] = n;
  }
  tmeter::Report report() const { return tmeter::Report(&report_); }

 private:
  const tmeter_module_call* call_of(const tmeter_module* module) const {
    for (const auto& c : calls)
      if (c.module == module) return &c;
    return nullptr;
  }
  tmeter_report report_;
};

}  // namespace fake
