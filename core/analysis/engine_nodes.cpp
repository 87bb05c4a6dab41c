// Values of operators: handlers are called in order of priority, for two operators of a signature
// at most where they depend on nothing else.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/analysis/engine.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/plugin_host/signature_escape.hpp"
#include "core/process/activity.hpp"

namespace tmeter::core {
namespace {

/// The largest plausible value of one operator; thousands of such values do not overflow.
constexpr double kMaxPlausibleValue = 1e15;
/// A handler's value is shared after two calls agree. A handler that depends on its earlier calls
/// would give other operators wrong values.
constexpr uint8_t kCallsBeforeSharing = 2;

std::string node_text(const Node& n) {
  std::string text = "node " + std::to_string(n.index) + " (" + n.full_name();
  if (!n.call->module->path.empty()) text += " in " + std::string(n.call->module->path);
  if (!n.location.empty()) text += ", " + std::string(n.location);
  return text + ")";
}

/// Called in a catch block. Adds the node unless the message names one already.
[[noreturn]] void rethrow_at(const Node& node) {
  try {
    throw;
  } catch (const PluginError& e) {
    const auto reason = e.reason();
    if (reason.find(" on node ") != reason.npos || reason.find(" on module ") != reason.npos) throw;
    throw e.placed(" on " + node_text(node));
  } catch (const Error& e) {
    const std::string text = e.what();
    throw Error(e.kind(), text.starts_with("node ") ? text : node_text(node) + ": " + text);
  }
}

}  // namespace

void Engine::evaluate_all(size_t column) {
  answer_calls(column);
  for (size_t i = 0; i < graph_.nodes().size(); ++i) evaluate(column, i);
}

tmeter_number Engine::evaluate(size_t column, size_t node) {
  auto& state = states_[column];
  auto& cells = results_.columns[column].cells[TMETER_AXIS_NODE];
  auto& stage = state.nodes[node];
  if (stage == Stage::kDone || results_.columns[column].failed) return cells[node];
  if (state.modules != Stage::kDone && !reads_own_inside(column, node)) answer_calls(column);
  if (stage == Stage::kDone) return cells[node];  // inside an answered call
  const auto* shared = shared_value(column, node);
  if (!shared || shared->calls < kCallsBeforeSharing) return compute(column, graph_.nodes()[node]);
  stage = Stage::kDone;
  cells.set(node, shared->value);
  return shared->value;
}

tmeter_number Engine::compute(size_t column, const Node& node) {
  const NodeScope at(static_cast<int64_t>(node.index), node.op, node.call->module->path);
  try {
    auto& c = results_.columns[column];
    Computing computing(*this, states_[column].nodes[node.index], {&c});
    const SignatureEscape::Watch watch;
    const auto result = call_handlers(column, node);
    if (result.by_signature && !watch.escaped()) share(column, node, result);
    c.cells[TMETER_AXIS_NODE].set(node.index, result.value);
    computing.done();
    return result.value;
  } catch (const Error& e) {
    try {
      blame_implausible_value(&node, e);
      throw;
    } catch (...) {
      rethrow_at(node);
    }
  }
}

Engine::HandlerResult Engine::call_handlers(size_t column, const Node& node) {
  auto& c = results_.columns[column];
  auto& state = states_[column];
  HandlerResult result{number_of_kind(TMETER_NUMBER_UNKNOWN)};
  for (const auto& candidate : handlers_.for_node(*state.handlers, c.id, node)) {
    const auto* h = candidate.handler;
    const bool zero = h->flags & TMETER_HANDLER_ZERO_BY_RULE;
    if (!zero && !(h->flags & TMETER_HANDLER_BY_SIGNATURE)) result.by_signature = false;
    const auto value =
        zero ? number_of_kind(TMETER_NUMBER_ZERO_BY_RULE)
             : call_handler(*candidate.plugin, {&c, &node}, state.doing,
                            [&](tmeter_call* x) { return h->eval(x, to_handle(&node), h->user); });
    if (!value) continue;
    note_override(c, *candidate.plugin, candidate.overridden, node.op);
    result.value = *value;
    result.by = candidate.plugin;
    break;
  }
  return result;
}

/// The shared value of a signature, or null.
const Engine::SharedValue* Engine::shared_value(size_t column, size_t node) const {
  const auto& shared = states_[column].shared;
  const auto signature = signatures_[node];
  const bool is_there = signature < shared.size() && shared[signature].calls > 0;
  return is_there ? &shared[signature] : nullptr;
}

void Engine::share(size_t column, const Node& node, const HandlerResult& result) {
  const auto signature = signatures_[node.index];
  if (signature == kNoSignature) return;
  auto& shared = states_[column].shared;
  if (shared.size() <= signature) shared.resize(signature + 1);
  auto& entry = shared[signature];
  if (entry.calls++ == 0) {
    entry.value = result.value;
  } else if (std::memcmp(&entry.value, &result.value, sizeof result.value) != 0) {
    throw PluginError(
        result.by ? result.by->manifest.id : results_.columns[column].plugin, states_[column].doing,
        "it gives two values to operators of the same signature, although it declares that its "
        "values depend only on the signature (TMETER_HANDLER_BY_SIGNATURE)");
  }
}

void Engine::note_largest(const Column& c, const Plugin& by, const tmeter_number& value) {
  auto& state = states_[index_of(c)];
  const double magnitude = std::abs(real(value));
  if (magnitude <= state.largest) return;
  state.largest = magnitude;
  state.largest_by = &by;
}

/// One of tmeter's metrics or analyses fails on an implausible value that it reads. Blames the
/// plugin whose handler gave the value. `node`: the place of the failure; null if it reads many
/// rows.
void Engine::blame_implausible_value(const Node* node, const Error& error) const {
  const auto* failed = dynamic_cast<const PluginError*>(&error);
  if (failed ? !is_own_plugin(failed->plugin()) : error.kind() != ErrorKind::kModel) return;
  const std::string reason =
      failed ? "plugin " + failed->plugin() + " " + failed->reason() : error.what();
  for (size_t i = 0; i < states_.size(); ++i) {
    const auto& c = results_.columns[i];
    const auto* by = states_[i].largest_by;
    if (!is_node_metric(c) || !by || is_own_plugin(by->manifest.id)) continue;
    const auto& cells = c.cells[TMETER_AXIS_NODE];
    if (node && node->index >= cells.size()) continue;
    const double given = node ? std::abs(real(cells[node->index])) : states_[i].largest;
    if (given < kMaxPlausibleValue) continue;
    throw PluginError(by->manifest.id, "on metric '" + c.id + "'",
                      "its value is too large to calculate with: " + reason);
  }
}

void Engine::note_override(const Column& c, const Plugin& by, const Plugin* of,
                           std::string_view op) {
  if (of) overrides_[{by.manifest.id, c.id, of->manifest.id}].insert(op);
}

/// Warns about another source, because users expect a metric's values from the declaring plugin.
void Engine::log_overrides() {
  constexpr size_t kMaxListed = 5;
  for (const auto& [who, things] : overrides_) {
    const auto& [by, metric, of] = who;
    std::string list;
    size_t listed = 0;
    for (const auto& thing : things)
      if (listed++ < kMaxListed) list.append(list.empty() ? "" : ", ").append(thing);
    if (listed > kMaxListed) list += " and " + std::to_string(listed - kMaxListed) + " more";
    context_.log->add(TMETER_LOG_WARNING, "tmeter",
                      "plugin " + by + " gives '" + metric + "' of " + list + " in place of " + of);
  }
}

// Calls that a module handler answers come first, before anything reads the metric.

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

/// The value of the operators inside a call, for the module handler that answers the call.
bool Engine::reads_own_inside(size_t column, size_t node) const {
  if (callbacks_.empty()) return false;
  const auto& callback = callbacks_.back();
  return callback.call && callback.column == &results_.columns[column] &&
         is_inside(graph_.nodes()[node].call, callback.call);
}

}  // namespace tmeter::core
