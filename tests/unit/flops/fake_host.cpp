#include "fake_host.hpp"

#include <stdexcept>
#include <string_view>
#include <tuple>

namespace fake {
namespace {

struct State {
  std::string convention, causal, error;
  tmeter_number value{};
  std::vector<std::string> warnings;
  const tmeter_node* node = nullptr;  // the only node
};
State& state() {
  static State s;
  return s;
}

tmeter_str str(std::string_view s) { return {s.data(), s.size()}; }
std::string_view view(tmeter_str s) { return {s.ptr, s.len}; }

tmeter_number evaluate(std::string_view metric, const tmeter_node& node);

const tmeter_value* find_arg(const tmeter_node* n, tmeter_str name) {
  for (const auto& [key, value] : n->args)
    if (key == view(name)) return &value;
  return nullptr;
}

tmeter_graph_api graph_api() {
  tmeter_graph_api g{};
  g.struct_size = sizeof g;
  g.node_count = [](const tmeter_graph*) -> size_t { return state().node ? 1 : 0; };
  g.node_at = [](const tmeter_graph*, size_t) -> const tmeter_node* { return state().node; };
  g.node_op = [](const tmeter_node* n) { return str(n->op); };
  g.node_overload = [](const tmeter_node* n) { return str(n->overload); };
  g.node_index = [](const tmeter_node* n) { return n->index; };
  g.node_arg_count = [](const tmeter_node* n) { return n->args.size(); };
  g.node_arg = [](const tmeter_node* n, size_t i) {
    return i < n->args.size() ? &n->args[i].second : nullptr;
  };
  g.node_arg_name = [](const tmeter_node* n, size_t i) { return str(n->args.at(i).first); };
  g.node_find_arg = find_arg;
  g.node_result_count = [](const tmeter_node* n) { return n->results.size(); };
  g.node_result = [](const tmeter_node* n, size_t i) {
    return i < n->results.size() ? &n->results[i] : nullptr;
  };
  g.value_kind = [](const tmeter_value* v) { return v->kind; };
  g.value_dtype = [](const tmeter_value* v) { return v->dtype; };
  g.value_dims = [](const tmeter_value* v) {
    return tmeter_i64_span{v->dims.data(), v->dims.size()};
  };
  g.value_int = [](const tmeter_value* v) { return v->i; };
  g.value_float = [](const tmeter_value* v) { return v->f; };
  g.value_text = [](const tmeter_value* v) { return str(v->text); };
  g.value_size = [](const tmeter_value* v) { return v->items.size(); };
  g.value_at = [](const tmeter_value* v, size_t i) {
    return i < v->items.size() ? &v->items[i] : nullptr;
  };
  g.value_tensor = [](const tmeter_value* v) { return v->stored; };
  g.tensor_stored_bytes = [](const tmeter_tensor* t) { return t->bytes; };
  g.tensor_canonical = [](const tmeter_tensor* t) { return t->tied_to ? t->tied_to : t; };
  g.value_producer = [](const tmeter_value*) -> const tmeter_node* { return nullptr; };
  return g;
}

tmeter_call_api call_api() {
  tmeter_call_api c{};
  c.struct_size = sizeof c;
  c.fail = [](tmeter_call*, tmeter_str m) { state().error = view(m); };
  c.log = [](tmeter_call*, int32_t level, tmeter_str m) {
    if (level == TMETER_LOG_WARNING) state().warnings.emplace_back(view(m));
  };
  c.option_text = [](tmeter_call*, tmeter_str key, tmeter_str* out) -> tmeter_status {
    *out = str(view(key) == "causal" ? state().causal : state().convention);
    return TMETER_OK;
  };
  c.graph = [](tmeter_call*) -> const tmeter_graph* { return nullptr; };  // node_at needs none
  return c;
}

tmeter_results_api results_api() {
  tmeter_results_api r{};
  r.struct_size = sizeof r;
  r.emit = [](tmeter_call*, tmeter_number n) -> tmeter_status {
    state().value = n;
    return TMETER_OK;
  };
  r.read = [](tmeter_call*, tmeter_str metric, int32_t, size_t,
              tmeter_number* out) -> tmeter_status {
    *out = evaluate(view(metric), *state().node);
    return TMETER_OK;
  };
  r.set_convention = [](tmeter_call*, tmeter_str, tmeter_str) -> tmeter_status {
    return TMETER_OK;
  };
  r.op_class = [](tmeter_call*, const tmeter_node* n, tmeter_str* name) -> tmeter_status {
    *name = str(n->work);
    return TMETER_OK;
  };
  r.result_memory = [](tmeter_call*, const tmeter_node* n, size_t i, int32_t* kind,
                       size_t* argument) -> tmeter_status {
    if (i >= n->results.size()) return TMETER_INVALID_ARGUMENT;
    const auto unknown = std::pair<int32_t, size_t>(TMETER_MEMORY_UNKNOWN, 0);
    std::tie(*kind, *argument) = i < n->memory.size() ? n->memory[i] : unknown;
    return TMETER_OK;
  };
  r.argument_written = [](tmeter_call*, const tmeter_node* n, size_t i,
                          int32_t* written) -> tmeter_status {
    if (i >= n->args.size()) return TMETER_INVALID_ARGUMENT;
    if (i >= n->written.size()) return TMETER_UNSUPPORTED;
    *written = n->written[i];
    return TMETER_OK;
  };
  return r;
}

const void* get_interface(const tmeter_host_v1*, tmeter_str id) {
  static const auto graph = graph_api();
  static const auto call = call_api();
  static const auto results = results_api();
  if (view(id) == TMETER_HOST_GRAPH) return &graph;
  if (view(id) == TMETER_HOST_CALL) return &call;
  if (view(id) == TMETER_HOST_RESULTS) return &results;
  return nullptr;
}

const tmeter_plugin_entry_v1& plugin() {
  static const auto* entry = [] {
    static const tmeter_host_v1 host{sizeof(tmeter_host_v1), 0, {}, {}, get_interface};
    const auto* e = tmeter_plugin_v1();
    if (e->init(nullptr, &host, {}, e->user) != TMETER_OK) throw std::runtime_error("init failed");
    return e;
  }();
  return *entry;
}

template <class Table>
const Table& capability(std::string_view id) {
  return *static_cast<const Table*>(plugin().get_capability(str(id), plugin().user));
}

// The host's choice: the operator's own handlers first, then "*".
tmeter_number evaluate(std::string_view metric, const tmeter_node& node) {
  const auto& handlers = capability<tmeter_op_handlers>(TMETER_CAP_OP_HANDLER);
  for (const std::string_view pattern : {std::string_view(node.op), std::string_view("*")}) {
    for (uint32_t i = 0; i < handlers.count; ++i) {
      const auto* h = handlers.get(i, handlers.user);
      if (view(h->metric) != metric || view(h->op) != pattern) continue;
      if (h->flags & TMETER_HANDLER_ZERO_BY_RULE) return {TMETER_NUMBER_ZERO_BY_RULE, 0, 0, 0};
      const auto status = h->eval(nullptr, &node, h->user);
      if (status == TMETER_OK) return state().value;
      if (status != TMETER_UNSUPPORTED) throw std::runtime_error("failed: " + state().error);
    }
  }
  return {TMETER_NUMBER_UNKNOWN, 0, 0, 0};
}

tmeter_number evaluate_by(const std::string& metric, const std::string& convention,
                          const tmeter_node& node) {
  const auto space = convention.find(' ');
  state().convention = convention.substr(0, space);
  state().causal = space == std::string::npos ? "full" : convention.substr(space + 1);
  state().node = &node;
  if (plugin().configure(nullptr, plugin().user) != TMETER_OK)
    throw std::runtime_error("configure failed: " + state().error);
  return evaluate(metric, node);
}

}  // namespace

std::optional<int64_t> Op::count(const std::string& metric, const std::string& convention) const {
  const auto n = evaluate_by(metric, convention, node_);
  if (n.kind == TMETER_NUMBER_ZERO_BY_RULE) return 0;
  if (n.kind == TMETER_NUMBER_INT) return n.i;
  return std::nullopt;
}

bool Op::zero_by_rule(const std::string& metric) const {
  return evaluate_by(metric, "torch", node_).kind == TMETER_NUMBER_ZERO_BY_RULE;
}

const std::vector<std::string>& warnings() { return state().warnings; }

}  // namespace fake
