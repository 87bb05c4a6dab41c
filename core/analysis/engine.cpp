#include "core/analysis/engine.hpp"

#include <algorithm>

#include "core/analysis/columns.hpp"
#include "core/analysis/emission_rules.hpp"
#include "core/analysis/findings.hpp"
#include "core/analysis/requests.hpp"
#include "core/analysis/rollup.hpp"
#include "core/analysis/size_notes.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/handles.hpp"

namespace tmeter::core {

Engine::Engine(const Graph& graph, const std::vector<Plugin*>& plugins, CallLog& log,
               const HardwareSource* hardware)
    : graph_(graph),
      plugins_(plugins),
      context_{&log, this, hardware, nullptr, &graph},
      handlers_(plugins) {
  for (auto* p : plugins_) contexts_before_.push_back(std::exchange(p->call.run, context_));
  for (const auto* p : plugins_) {
    for (const auto& note : p->offered.notes)
      log.add(TMETER_LOG_WARNING, "tmeter", "plugin " + p->manifest.id + ": " + note);
  }
  collect_columns();
  collect_analyses();
  require_useful_handlers();
}

Engine::~Engine() {
  for (size_t i = 0; i < plugins_.size(); ++i) plugins_[i]->call.run = contexts_before_[i];
}

void Engine::collect_columns() {
  results_.columns = make_columns(plugins_, graph_);
  states_.resize(results_.columns.size());
  for (size_t i = 0; i < states_.size(); ++i) {
    const auto& c = results_.columns[i];
    auto& state = states_[i];
    by_id_.emplace(c.id, i);
    state.handlers = &handlers_.of_metric(c.id);
    state.doing = "on metric '" + c.id + "'";
    if (is_node_metric(c)) state.nodes.resize(graph_.nodes().size());
    state.unrequested = is_unrequested(c.id, c.plugin);
    if (c.failed || state.unrequested) state.complete = Stage::kDone;
  }
}

bool Engine::is_unrequested(std::string_view id, std::string_view plugin) const {
  return std::any_of(plugins_.begin(), plugins_.end(), [&](const auto* p) {
    return p->manifest.id == plugin && p->unrequested.contains(id);
  });
}

void Engine::collect_analyses() {
  const auto for_each_produced = [&](tmeter_str produced, const auto& note) {
    for (const auto& id : split(str(produced), " "))
      if (const auto i = column_index(id); i != kNone) note(states_[i]);
  };
  for (auto* p : plugins_) {
    for (const auto& a : p->offers().tensor_analyses) {
      if (core::is_unrequested(*p, view(a.produced))) continue;
      tensor_uses_.push_back({p, &a});
      for_each_produced(a.produced, [](ColumnState& state) { state.streamed = true; });
    }
    for (const auto& o : p->offers().observers) {
      observer_uses_.push_back({p, &o});
      for_each_produced(o.produced, [](ColumnState& state) { state.observed = true; });
    }
    for (const auto& a : p->offers().analyses) {
      if (core::is_unrequested(*p, view(a.produced))) continue;
      const size_t index = analyses_.size();
      analyses_.push_back({p, &a, split(str(a.required), " "), split(str(a.produced), " ")});
      for_each_produced(a.produced, [&](ColumnState& state) { state.analyses.push_back(index); });
    }
  }
}

/// Refuses handlers that the engine would never call.
void Engine::require_useful_handlers() const {
  const auto check = [&](const Plugin& plugin, tmeter_str metric) {
    const size_t i = column_index(view(metric));
    if (i == kNone) return;  // its plugin takes no part in this run
    const auto& c = results_.columns[i];
    if (is_node_metric(c) && !states_[i].is_produced()) return;
    throw PluginError(plugin.manifest.id, "on metric '" + c.id + "'",
                      "its handlers are not called, because " +
                          std::string(is_node_metric(c) ? "an analysis gives its values"
                                                        : "it has no values of operators"));
  };
  for (const auto* p : plugins_) {
    for (const auto& h : p->offers().op_handlers) check(*p, h.metric);
    for (const auto& h : p->offers().module_handlers) check(*p, h.metric);
  }
}

size_t Engine::column_index(std::string_view id) const {
  const auto at = by_id_.find(id);
  return at == by_id_.end() ? kNone : at->second;
}

/// Throws Error(kPlugin). Called on behalf of a plugin.
Column& Engine::column_at(std::string_view id) {
  const size_t i = column_index(id);
  if (i == kNone) {
    throw Error(ErrorKind::kPlugin,
                "metric '" + printable(id) + "' is not declared by any loaded plugin");
  }
  return results_.columns[i];
}

/// Null for one of the plugin's metrics that this run leaves out; its values are dropped.
Column* Engine::own_column(std::string_view id, std::string_view plugin) {
  const auto i = column_index(id);
  const auto is_left_out = [&](const Plugin* p) {
    const auto& ids = p->offered.left_out;
    return p->manifest.id == plugin && std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  if (i == kNone && std::any_of(plugins_.begin(), plugins_.end(), is_left_out)) return nullptr;
  auto& column = i == kNone ? column_at(id) : results_.columns[i];
  require_own(column, plugin);
  return &column;
}

void Engine::configure() {
  configured_ = false;
  for (auto* p : plugins_) {
    if (!p->is_open() || !p->failure.empty()) continue;
    const auto& entry = p->started->entry();
    if (!entry.configure) continue;
    invoke(p->call, "to configure itself",
           [&](tmeter_call* c) { return entry.configure(c, entry.user); });
  }
  configured_ = true;
}

/// Names all steps of the cycle.
void Engine::throw_cycle(const Step& step) const {
  const auto name = [](const Step& s) {
    return s.column ? "'" + s.column->id + "' (plugin " + s.column->plugin + ")"
                    : "analysis '" + str(s.analysis->entry->name) + "' (plugin " +
                          s.analysis->plugin->manifest.id + ")";
  };
  auto at = std::find(computing_.begin(), computing_.end(), step);
  std::string text = name(step);
  for (std::vector<Step> named{step}; at != computing_.end(); ++at) {
    if (std::find(named.begin(), named.end(), *at) != named.end()) continue;
    text += " and " + name(*at);
    named.push_back(*at);
  }
  throw Error(ErrorKind::kPlugin, "metrics depend on each other in a circle: " + text);
}

/// Completes a column. Its roll-ups come last.
void Engine::require(size_t i) {
  auto& state = states_[i];
  if (state.complete == Stage::kDone) return;
  Computing computing(*this, state.complete, {&results_.columns[i]});
  for (const auto analysis : state.analyses) run_analysis(analyses_[analysis]);
  if (!state.is_produced() && is_node_metric(results_.columns[i])) evaluate_all(i);
  roll_up(i);
  computing.done();
}

void Engine::run_analysis(Analysis& analysis) {
  if (analysis.stage == Stage::kDone) return;
  Computing computing(*this, analysis.stage, {nullptr, &analysis});
  const auto doing = "in analysis '" + str(analysis.entry->name) + "'";
  for (const auto& metric : analysis.required) {
    if (column_index(metric) == kNone)
      throw PluginError(
          analysis.plugin->manifest.id, doing,
          "metric '" + printable(metric) + "' is required but no loaded plugin has it");
    require(column_index(metric));
  }
  const CallbackScope scope(*this, {nullptr, nullptr, nullptr, &analysis});
  try {
    invoke(analysis.plugin->call, doing, [&](tmeter_call* c) {
      return analysis.entry->run(c, to_handle(&graph_), analysis.entry->user);
    });
  } catch (const Error& e) {
    blame_implausible_value(nullptr, e);
    throw;
  }
  computing.done();
}

void Engine::roll_up(size_t i) {
  auto& c = results_.columns[i];
  if (c.aggregation == TMETER_AGGREGATE_WEIGHTED_MEAN) require(column_index(c.weight));
  try {
    if (c.axis == TMETER_AXIS_NODE || c.axis == TMETER_AXIS_MODULE_CALL)
      roll_up_nodes(graph_, results_, c);
    if (c.axis == TMETER_AXIS_TENSOR) roll_up_tensors(graph_, results_, c);
  } catch (const Overflow& e) {
    blame_overflow(c, e);
  }
}

/// Blames the plugin that gave the largest value, or the source of an implausible value that this
/// metric is computed from. If all are tmeter's, the model is too large.
void Engine::blame_overflow(const Column& c, const Error& overflow) const {
  const auto* by = states_[index_of(c)].largest_by;
  const auto& culprit = by ? by->manifest.id : c.plugin;
  if (is_own_plugin(culprit)) {
    blame_implausible_value(nullptr, overflow);
    throw overflow;
  }
  throw PluginError(culprit, "on metric '" + c.id + "'", overflow.what());
}

/// Drops columns that were not requested, and those of observers if the model did not run.
void Engine::drop_absent_columns() {
  size_t i = 0;
  std::erase_if(results_.columns, [&](const Column&) {
    const auto& state = states_[i++];
    return state.unrequested || (state.observed && !runs_);
  });
}

Results Engine::run() {
  configure();
  signatures_ = signatures_of(graph_);
  stream_tensors();
  observe_runs();
  for (size_t i = 0; i < results_.columns.size(); ++i) require(i);
  for (auto& analysis : analyses_) run_analysis(analysis);
  log_modules();
  if (graph_.property("content") == "weights") {
    mark_without_graph(results_.columns);
  } else {
    results_.coverage = coverage_of(results_.columns, graph_);
    for (auto& text : omissions(results_.columns, graph_, results_.coverage))
      context_.log->add(TMETER_LOG_WARNING, "tmeter", text);
  }
  log_overrides();
  note_recomputed_shapes(graph_, results_);
  mark_assumed(graph_, results_);
  drop_absent_columns();
  drop_repeated(results_.findings);
  most_severe_first(results_.findings);
  return std::move(results_);
}

/// Forgets every value that depends on sizes. Statistics of tensors and measurements stay.
void Engine::forget_nodes() {
  for (size_t i = 0; i < results_.columns.size(); ++i) {
    auto& c = results_.columns[i];
    auto& state = states_[i];
    if (c.failed || state.unrequested || state.streamed || state.observed) continue;
    for (auto& cells : c.cells) cells.assign(cells.size(), {});
    std::fill(state.nodes.begin(), state.nodes.end(), Stage::kWaiting);
    state.shared.clear();
    state.calls.clear();
    state.has_answered_calls = false;
    state.modules = state.complete = Stage::kWaiting;
  }
  for (auto& analysis : analyses_) analysis.stage = Stage::kWaiting;
  results_.findings.clear();
  results_.distributions.clear();
  results_.series.clear();
  reported_.clear();
  signatures_ = signatures_of(graph_);
}

const Results& Engine::run_nodes(const std::function<bool(const Column&)>& selects) {
  configure();  // plugins drop their state for other sizes
  forget_nodes();
  for (size_t i = 0; i < results_.columns.size(); ++i) {
    const auto& c = results_.columns[i];
    const auto& state = states_[i];
    const bool left_out = c.failed || state.unrequested || state.streamed || state.observed ||
                          (is_node_metric(c) && state.is_produced());
    if (!left_out && selects(c)) require(i);
  }
  return results_;
}

}  // namespace tmeter::core
