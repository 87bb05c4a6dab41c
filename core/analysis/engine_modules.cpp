// Calls of modules that a module handler answers as a whole, before anything reads the metric.
#include <algorithm>

#include "core/analysis/engine.hpp"
#include "core/plugin_host/handles.hpp"

namespace tmeter::core {
namespace {

bool is_inside(const ModuleCall* call, const ModuleCall* outer) {
  while (call && call != outer) call = call->parent;
  return call != nullptr;
}

}  // namespace

void Engine::answer_calls(size_t column) {
  auto& stage = states_[column].modules;
  if (stage == Stage::kDone) return;
  Computing computing(*this, stage, {&results_.columns[column]});
  call_module_handlers(column);
  computing.done();
}

void Engine::call_module_handlers(size_t column) {
  auto& c = results_.columns[column];
  auto& state = states_[column];
  const auto candidates = handlers_.of_modules(c.id);
  if (std::none_of(candidates.begin(), candidates.end(),
                   [&](const auto* candidate) { return concerns(*candidate, nullptr); })) {
    return;
  }
  c.cells[TMETER_AXIS_MODULE_CALL].assign(graph_.calls().size(), {});
  state.calls.assign(graph_.calls().size(), CallState::kOpen);
  for (const auto& call : graph_.calls()) {  // a call comes after its parent
    if (call.parent && state.calls[call.parent->index] != CallState::kOpen) {
      state.calls[call.index] = CallState::kInside;
    } else if (answer(column, call)) {
      state.calls[call.index] = CallState::kAnswered;
      state.has_answered_calls = true;
    }
  }
  for (const auto& node : graph_.nodes()) {
    if (state.calls[node.call->index] == CallState::kOpen) continue;
    c.cells[TMETER_AXIS_NODE].set(node.index, number_of_kind(TMETER_NUMBER_IN_MODULE));
    state.nodes[node.index] = Stage::kDone;
  }
}

bool Engine::answer(size_t column, const ModuleCall& call) {
  auto& c = results_.columns[column];
  for (const auto* candidate : handlers_.for_module(c.id, call.module->type)) {
    if (!concerns(*candidate, &call)) continue;
    const auto doing = "on metric '" + c.id + "' on module '" + std::string(call.module->path) +
                       "' (" + std::string(call.module->type) + ")";
    const auto* h = candidate->handler;
    const auto value = call_handler(
        *candidate->plugin, {&c, nullptr, &call}, doing,
        [&](tmeter_call* x) { return h->eval(x, to_handle(&graph_), to_handle(&call), h->user); });
    if (!value) continue;
    if (const auto& by = candidate->plugin->manifest.id; by != c.plugin)
      overrides_[{by, c.id, c.plugin}].insert(call.module->type);
    auto& cells = c.cells[TMETER_AXIS_MODULE_CALL];
    cells.set(call.index, *value);
    cells.mark(call.index, TMETER_NUMBER_BY_MODULE);
    return true;
  }
  return false;
}

/// Whether the handler is to be called: always, or if the call (null: any call) is answered under
/// a metric that it follows.
bool Engine::concerns(const ModuleCandidate& candidate, const ModuleCall* call) {
  if (candidate.follows.empty()) return true;
  return std::any_of(candidate.follows.begin(), candidate.follows.end(), [&](const auto& metric) {
    const size_t i = column_index(metric);
    if (i == kNone || !is_node_metric(results_.columns[i]) || results_.columns[i].failed)
      return false;
    answer_calls(i);
    const auto& calls = states_[i].calls;
    if (call) return call->index < calls.size() && calls[call->index] == CallState::kAnswered;
    return std::find(calls.begin(), calls.end(), CallState::kAnswered) != calls.end();
  });
}

/// A module handler may read what its metric would give for the operators inside its call.
bool Engine::reads_own_inside(size_t column, size_t node) const {
  if (callbacks_.empty()) return false;
  const auto& callback = callbacks_.back();
  return callback.call && callback.column == &results_.columns[column] &&
         is_inside(graph_.nodes()[node].call, callback.call);
}

}  // namespace tmeter::core
