// Which module calls are answered by module handlers: before anything reads the metric.
#include <algorithm>

#include "core/analysis/engine_calls.hpp"
#include "core/plugin_host/handles.hpp"

namespace tmeter::core {
namespace {

bool is_inside(const ModuleCall* call, const ModuleCall* outer) {
  while (call && call != outer) call = call->parent;
  return call != nullptr;
}

}  // namespace

void Engine::answer_calls(size_t column) {
  auto& progress = progress_[column];
  if (progress.answered == Stage::kDone) return;
  Working working(*this, progress.answered, {&results_.columns[column]});
  ask_about_calls(column);
  working.done();
}

void Engine::ask_about_calls(size_t column) {
  auto& c = results_.columns[column];
  auto& progress = progress_[column];
  const auto candidates = handlers_.of_modules(c.id);
  if (std::none_of(candidates.begin(), candidates.end(),
                   [&](const auto* candidate) { return concerns(*candidate, nullptr); })) {
    return;
  }
  c.cells[TMETER_AXIS_MODULE_CALL].assign(graph_.calls().size(), {});
  progress.calls.assign(graph_.calls().size(), Answer::kNone);
  for (const auto& call : graph_.calls()) {  // a call comes after the one that makes it
    auto& state = progress.calls[call.index];
    if (call.parent && progress.calls[call.parent->index] != Answer::kNone) {
      state = Answer::kInside;
    } else if (answer(column, call)) {
      state = Answer::kGiven;
      progress.covers = true;
    }
  }
  for (const auto& node : graph_.nodes()) {
    if (progress.calls[node.call->index] == Answer::kNone) continue;
    c.cells[TMETER_AXIS_NODE].set(node.index, number_of_kind(TMETER_NUMBER_IN_MODULE));
    progress.nodes[node.index] = Stage::kDone;
  }
}

bool Engine::answer(size_t column, const ModuleCall& call) {
  auto& c = results_.columns[column];
  for (const auto* candidate : handlers_.for_module(c.id, call.module->type)) {
    if (!concerns(*candidate, &call)) continue;
    const auto doing = "on metric '" + c.id + "' on module '" + std::string(call.module->path) +
                       "' (" + std::string(call.module->type) + ")";
    const auto* h = candidate->handler;
    const auto value = ask(*candidate->plugin, {&c, nullptr, &call}, doing, [&](tmeter_call* x) {
      return h->eval(x, to_handle(&graph_), to_handle(&call), h->user);
    });
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

/// Whether it is to be asked: always, or if the call – null: any – is answered under a metric that
/// it follows.
bool Engine::concerns(const ModuleCandidate& candidate, const ModuleCall* call) {
  if (candidate.follows.empty()) return true;
  return std::any_of(candidate.follows.begin(), candidate.follows.end(), [&](const auto& metric) {
    const size_t i = column_index(metric);
    if (i == kNone || !is_node_metric(results_.columns[i]) || results_.columns[i].failed)
      return false;
    answer_calls(i);
    const auto& calls = progress_[i].calls;
    if (call) return call->index < calls.size() && calls[call->index] == Answer::kGiven;
    return std::find(calls.begin(), calls.end(), Answer::kGiven) != calls.end();
  });
}

/// A module handler at work may look at what the operators inside its call cost without it.
bool Engine::reads_own_inside(size_t column, const Node& node) const {
  if (frames_.empty()) return false;
  const auto& frame = frames_.back();
  return frame.call && frame.column == &results_.columns[column] &&
         is_inside(node.call, frame.call);
}

}  // namespace tmeter::core
