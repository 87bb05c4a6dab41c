#include "core/analysis/engine.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/analysis/columns.hpp"
#include "core/analysis/coverage.hpp"
#include "core/analysis/findings.hpp"
#include "core/analysis/ownership.hpp"
#include "core/analysis/rollup.hpp"
#include "core/analysis/worked_out.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/handles.hpp"

namespace tmeter::core {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

std::string node_text(const Node& n) {
  std::string text = "node " + std::to_string(n.index) + " (" + n.full_name();
  if (!n.call->module->path.empty()) text += " in " + std::string(n.call->module->path);
  if (!n.location.empty()) text += ", " + std::string(n.location);
  return text + ")";
}

/// In a catch block: the same error with the node it is about, unless that is told already.
[[noreturn]] void rethrow_at(const Node& node) {
  try {
    throw;
  } catch (const PluginError& e) {
    if (e.reason().find(" on node ") != std::string::npos) throw;
    throw e.placed(" on " + node_text(node));
  } catch (const Error& e) {
    const std::string text = e.what();
    throw Error(e.kind(), text.starts_with("node ") ? text : node_text(node) + ": " + text);
  }
}

}  // namespace

Engine::Engine(const Graph& graph, const std::vector<Plugin*>& plugins, CallLog& log,
               const HardwareSource* hardware)
    : graph_(graph), plugins_(plugins), context_{&log, this, hardware}, handlers_(plugins) {
  for (auto* p : plugins_) before_.push_back(std::exchange(p->call.run, context_));
  collect_columns();
  collect_passes();
}

Engine::~Engine() {
  for (size_t i = 0; i < plugins_.size(); ++i) plugins_[i]->call.run = before_[i];
}

template <class F>
tmeter_status Engine::call_plugin(Plugin& plugin, std::string_view doing, F&& f) {
  return invoke(plugin.call, doing, std::forward<F>(f));
}

template <class F>
std::optional<tmeter_number> Engine::ask(Plugin& plugin, Column& column, std::string_view doing,
                                         F&& f) {
  const FrameOf frame(*this, column);
  if (call_plugin(plugin, doing, std::forward<F>(f)) != TMETER_OK) return std::nullopt;
  if (!frames_.back().emitted)
    throw PluginError(plugin.manifest.id, std::string(doing), "it ends well but gives no value");
  return frames_.back().value;
}

void Engine::collect_columns() {
  results_.columns = make_columns(plugins_, graph_);
  const size_t n = results_.columns.size();
  node_stages_.resize(n);
  covered_calls_.resize(n);
  finished_.resize(n);
  for (size_t i = 0; i < n; ++i) {
    if (is_node_metric(results_.columns[i])) node_stages_[i].resize(graph_.nodes().size());
    finished_[i] = results_.columns[i].failed;
  }
}

void Engine::collect_passes() {
  for (auto* p : plugins_) {
    for (const auto& a : p->offers().tensor_analyses) tensor_uses_.push_back({p, &a});
    for (const auto& a : p->offers().analyses)
      passes_.push_back({p, &a, split(str(a.required), " "), split(str(a.produced), " ")});
  }
}

size_t Engine::column_index(std::string_view id) const {
  for (size_t i = 0; i < results_.columns.size(); ++i) {
    if (results_.columns[i].id == id) return i;
  }
  return kNone;
}

/// Throws Error(kPlugin): to be called on behalf of a plugin.
Column& Engine::column_at(std::string_view id) {
  const size_t i = column_index(id);
  if (i == kNone) {
    throw Error(ErrorKind::kPlugin,
                "metric '" + std::string(id) + "' is not declared by any loaded plugin");
  }
  return results_.columns[i];
}

Column& Engine::own_column(std::string_view id, std::string_view plugin) {
  auto& column = column_at(id);
  require_own(column, plugin);
  return column;
}

void Engine::configure() {
  for (auto* p : plugins_) {
    if (!p->is_open() || !p->failure.empty()) continue;
    const auto& entry = p->started->entry();
    if (!entry.configure) continue;
    call_plugin(*p, "to configure itself",
                [&](tmeter_call* c) { return entry.configure(c, entry.user); });
  }
}

void Engine::run_module_handlers(size_t column) {
  auto& c = results_.columns[column];
  auto& covered = covered_calls_[column];
  covered.assign(graph_.calls().size(), false);
  if (!handlers_.has_module_handlers(c.id)) return;
  auto& cells = c.cells[TMETER_AXIS_MODULE_CALL];
  cells.resize(graph_.calls().size());
  for (const auto& call : graph_.calls()) {
    if (call.parent && covered[call.parent->index]) {
      covered[call.index] = true;
      continue;
    }
    for (const auto& candidate : handlers_.for_module(c.id, call.module->type)) {
      const auto doing = "on metric '" + c.id + "' on module '" + std::string(call.module->path) +
                         "' (" + std::string(call.module->type) + ")";
      const auto value = ask(*candidate.plugin, c, doing, [&](tmeter_call* x) {
        return candidate.handler->eval(x, to_handle(&graph_), to_handle(&call),
                                       candidate.handler->user);
      });
      if (!value) continue;
      const bool foreign = c.plugin != candidate.plugin->manifest.id;
      if (foreign)
        overrides_[{candidate.plugin->manifest.id, c.id, c.plugin}].insert(call.module->type);
      cells[call.index] = *value;
      covered[call.index] = true;
      break;
    }
  }
}

tmeter_number Engine::ask_handlers(size_t column, const Node& node) {
  auto& c = results_.columns[column];
  for (const auto& candidate : handlers_.for_node(c.id, node)) {
    const auto* h = candidate.handler;
    if (h->flags & TMETER_HANDLER_ZERO_BY_RULE) {
      note_override(c, *candidate.plugin, candidate.overridden, node.op);
      return number_of_kind(TMETER_NUMBER_ZERO_BY_RULE);
    }
    const auto value = ask(*candidate.plugin, c, "on metric '" + c.id + "'",
                           [&](tmeter_call* x) { return h->eval(x, to_handle(&node), h->user); });
    if (!value) continue;
    note_override(c, *candidate.plugin, candidate.overridden, node.op);
    return *value;
  }
  return number_of_kind(TMETER_NUMBER_UNKNOWN);
}

tmeter_number Engine::evaluate(size_t column, const Node& node) {
  const auto stage = node_stages_[column][node.index];
  auto& cell = results_.columns[column].cells[TMETER_AXIS_NODE][node.index];
  if (stage == Stage::kDone || results_.columns[column].failed) return cell;
  if (stage == Stage::kRunning) {
    const auto named = [](const Column& c) { return "'" + c.id + "' (plugin " + c.plugin + ")"; };
    throw Error(ErrorKind::kPlugin,
                "metrics need each other in a circle: " + named(results_.columns[column]) +
                    " and " + named(*frames_.back().column));
  }
  node_stages_[column][node.index] = Stage::kRunning;
  const AtNode at(static_cast<int64_t>(node.index), node.op, node.call->module->path);
  try {
    const auto value = ask_handlers(column, node);
    node_stages_[column][node.index] = Stage::kDone;
    return results_.columns[column].cells[TMETER_AXIS_NODE][node.index] = value;
  } catch (...) {
    node_stages_[column][node.index] = Stage::kWaiting;
    rethrow_at(node);
  }
}

void Engine::evaluate_all(size_t column) {
  run_module_handlers(column);
  const auto& covered = covered_calls_[column];
  for (const auto& node : graph_.nodes()) {
    if (covered[node.call->index]) {
      node_stages_[column][node.index] = Stage::kDone;  // answered by the module, stays NONE
    } else {
      evaluate(column, node);
    }
  }
}

void Engine::finish_column(size_t i) {
  if (finished_[i]) return;
  finished_[i] = 1;
  auto& c = results_.columns[i];
  if (column_index(c.weight) != kNone) require_metric(c.weight);  // the weights of a mean
  if (c.axis == TMETER_AXIS_NODE) roll_up_nodes(graph_, results_, c);
  if (c.axis == TMETER_AXIS_MODULE_CALL) roll_up_nodes(graph_, results_, c);
  if (c.axis == TMETER_AXIS_TENSOR) roll_up_tensors(graph_, results_, c);
}

bool Engine::is_produced(const std::string& id) const {
  for (const auto& use : tensor_uses_) {
    const auto produced = split(str(use.analysis->produced), " ");
    if (std::find(produced.begin(), produced.end(), id) != produced.end()) return true;
  }
  return std::any_of(passes_.begin(), passes_.end(), [&](const Pass& p) {
    return std::find(p.produced.begin(), p.produced.end(), id) != p.produced.end();
  });
}

void Engine::require_metric(const std::string& id) {
  const size_t i = column_index(id);
  if (i == kNone) {
    throw Error(ErrorKind::kPlugin, "metric '" + id + "' is required but no loaded plugin has it");
  }
  for (auto& pass : passes_) {
    if (std::find(pass.produced.begin(), pass.produced.end(), id) != pass.produced.end())
      run_pass(pass);
  }
  if (finished_[i]) return;
  if (!is_produced(id) && is_node_metric(results_.columns[i])) evaluate_all(i);
  finish_column(i);
}

void Engine::run_pass(Pass& pass) {
  if (pass.stage == Stage::kDone) return;
  if (pass.stage == Stage::kRunning) {
    throw Error(ErrorKind::kPlugin, "analyses need each other in a circle: '" +
                                        str(pass.analysis->name) + "' of plugin " +
                                        pass.plugin->manifest.id);
  }
  pass.stage = Stage::kRunning;
  for (const auto& metric : pass.required) require_metric(metric);
  call_plugin(*pass.plugin, "in analysis '" + str(pass.analysis->name) + "'", [&](tmeter_call* c) {
    return pass.analysis->run(c, to_handle(&graph_), pass.analysis->user);
  });
  pass.stage = Stage::kDone;
}

/// Tensors without readable numbers say so in every figure, and once in words.
void Engine::mark_unreadable(const TensorStream& stream) {
  std::map<std::string_view, std::set<const Tensor*>> reasons;
  for (const auto& [tensor, use, why] : stream.unreadable()) {
    reasons[why].insert(tensor);
    for (const auto& id : split(str(use->analysis->produced), " ")) {
      auto& c = column_at(id);
      if (c.axis == TMETER_AXIS_TENSOR)
        c.cells[TMETER_AXIS_TENSOR][tensor->index] = number_of_kind(TMETER_NUMBER_UNAVAILABLE);
      if (!stream.empty()) continue;
      c.provenance = TMETER_PROVENANCE_UNAVAILABLE;
      c.provenance_text = why;
    }
  }
  for (const auto& [why, tensors] : reasons) {
    const auto n = tensors.size();
    context_.log->add(
        TMETER_LOG_WARNING, "tmeter",
        "the numbers of " + std::to_string(n) + (n == 1 ? " tensor, '" : " tensors, as of '") +
            std::string((*tensors.begin())->name) + "', cannot be read: " + std::string(why));
  }
}

void Engine::stream_tensors() {
  if (tensor_uses_.empty() || !context_.tensors) return;
  TensorStream stream(graph_, tensor_uses_, *context_.tensors, *context_.log);
  stream.run(activity().watchful ? 1 : threads_,
             [&](const TensorUse& use, const Tensor& tensor, void* state) {
               const auto* a = use.analysis;
               call_plugin(*use.plugin, "in '" + str(a->name) + "'", [&](tmeter_call* c) {
                 return a->emit(c, to_handle(&tensor), state, a->user);
               });
             });
  mark_unreadable(stream);
}

void Engine::note_override(const Column& c, const Plugin& by, const Plugin* of,
                           std::string_view op) {
  if (of) overrides_[{by.manifest.id, c.id, of->manifest.id}].insert(op);
}

/// Figures that are not those of the plugin a user expects them from are told with their author.
void Engine::tell_overrides() {
  constexpr size_t kMost = 5;
  for (const auto& [who, things] : overrides_) {
    const auto& [by, metric, of] = who;
    std::string list;
    size_t told = 0;
    for (const auto& thing : things) {
      if (told++ < kMost) list.append(list.empty() ? "" : ", ").append(thing);
    }
    if (told > kMost) list += " and " + std::to_string(told - kMost) + " more";
    context_.log->add(TMETER_LOG_WARNING, "tmeter",
                      "plugin " + by + " gives '" + metric + "' of " + list + " in place of " + of);
  }
}

Results Engine::run() {
  configure();
  stream_tensors();
  for (size_t i = 0; i < results_.columns.size(); ++i) require_metric(results_.columns[i].id);
  for (auto& pass : passes_) run_pass(pass);
  if (graph_.property("content") == "weights") {
    mark_without_graph(results_.columns);
  } else {
    results_.coverage = coverage_of(results_.columns, graph_);
  }
  tell_overrides();
  mark_worked_out(graph_, results_);
  drop_repeated(results_.findings);
  most_severe_first(results_.findings);
  return std::move(results_);
}

void Engine::forget_nodes() {
  for (size_t i = 0; i < results_.columns.size(); ++i) {
    auto& c = results_.columns[i];
    if (!is_node_metric(c) || c.failed) continue;
    for (auto& cells : c.cells) std::fill(cells.begin(), cells.end(), tmeter_number{});
    std::fill(node_stages_[i].begin(), node_stages_[i].end(), Stage::kWaiting);
    finished_[i] = 0;
  }
}

const Results& Engine::run_nodes(const std::function<bool(const Column&)>& wanted) {
  configure();  // plugins forget what they know of other sizes
  forget_nodes();
  for (size_t i = 0; i < results_.columns.size(); ++i) {
    const auto& c = results_.columns[i];
    if (!is_node_metric(c) || c.failed || is_produced(c.id) || !wanted(c)) continue;
    evaluate_all(i);
    finish_column(i);
  }
  return results_;
}

}  // namespace tmeter::core
