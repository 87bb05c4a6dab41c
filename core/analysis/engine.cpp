#include "core/analysis/engine.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "core/analysis/rollup.hpp"
#include "core/analysis/worked_out.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/handles.hpp"

namespace tmeter::core {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

Column make_column(const tmeter_metric_desc& d, const std::string& plugin) {
  Column c;
  c.id = str(d.id);
  c.title = str(d.title);
  c.unit = str(d.unit);
  c.weight = str(d.weight);
  c.convention = str(d.convention);
  c.description = str(d.description);
  c.plugin = plugin;
  c.flags = d.flags;
  c.unit_kind = d.unit_kind;
  c.axis = d.axis;
  c.aggregation = d.aggregation;
  c.better = d.better;
  return c;
}

Finding make_finding(const tmeter_finding& f, std::string_view plugin) {
  Finding out;
  out.severity = f.severity;
  out.rule = str(f.rule);
  out.text = str(f.text);
  out.evidence = str(f.evidence);
  out.action = str(f.action);
  out.plugin = plugin;
  out.targets.assign(f.targets, f.targets + f.target_count);
  for (size_t i = 0; i < f.change_count; ++i)
    out.change_metrics.push_back(str(f.changes[i].metric));
  for (size_t i = 0; i < f.change_count; ++i)
    out.changes.push_back({to_abi(out.change_metrics[i]), f.changes[i].from, f.changes[i].to});
  return out;
}

/// Whether `all` is about everything `some` is about.
bool covers(const Finding& all, const Finding& some) {
  std::set<std::pair<int32_t, size_t>> things;
  for (const auto& t : all.targets) things.emplace(t.axis, t.index);
  return !some.targets.empty() &&
         std::all_of(some.targets.begin(), some.targets.end(), [&](const auto& t) {
           return things.contains({t.axis, t.index});
         });
}

/// Plugins that look at the same weights find the same faults. What another plugin's finding of
/// that rule says of more things, or has said before of the same, is not said again.
void drop_repeated(std::vector<Finding>& findings) {
  std::vector<bool> repeated(findings.size());
  for (size_t i = 0; i < findings.size(); ++i) {
    for (size_t k = 0; k < findings.size() && !repeated[i]; ++k) {
      const auto &f = findings[i], &other = findings[k];
      if (other.rule != f.rule || other.plugin == f.plugin || !covers(other, f)) continue;
      repeated[i] = other.targets.size() > f.targets.size() || k < i;
    }
  }
  size_t i = 0;
  std::erase_if(findings, [&](const Finding&) { return repeated[i++]; });
}

std::string node_text(const Node& n) {
  std::string text = "node " + std::to_string(n.index) + " (" + n.full_name();
  if (!n.call->module->path.empty()) text += " in " + std::string(n.call->module->path);
  if (!n.location.empty()) text += ", " + std::string(n.location);
  return text + ")";
}

void require_rising(std::span<const double> values, const std::string& what) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && (i == 0 || values[i - 1] < values[i])) continue;
    throw Error(ErrorKind::kPlugin, what + " has edges that do not rise or are not finite");
  }
}

size_t axis_size(const Graph& g, int32_t axis) {
  switch (axis) {
    case TMETER_AXIS_NODE:
      return g.nodes().size();
    case TMETER_AXIS_MODULE_CALL:
      return g.calls().size();
    case TMETER_AXIS_MODULE:
      return g.modules().size();
    case TMETER_AXIS_TENSOR:
      return g.tensors().size();
    case TMETER_AXIS_MODEL:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

Engine::Engine(const Graph& graph, const std::vector<Plugin*>& plugins, CallLog& log,
               const HardwareSource* hardware)
    : graph_(graph), plugins_(plugins), context_{&log, this, hardware}, handlers_(plugins) {
  for (auto* p : plugins_) p->call.run = context_;
  collect_columns();
  collect_passes();
}

template <class F>
tmeter_status Engine::call_plugin(Plugin& plugin, std::string_view doing, F&& f) {
  return invoke(plugin.call, doing, std::forward<F>(f));
}

void Engine::collect_columns() {
  for (auto* p : plugins_) {
    const auto* t = p->capability<tmeter_metrics>(TMETER_CAP_METRICS);
    for (uint32_t i = 0; t && i < t->count; ++i) {
      auto column = make_column(*t->get(i), p->manifest.id);
      if (const auto* other = results_.find(column.id)) {
        throw Error(ErrorKind::kPlugin, "plugins " + other->plugin + " and " + column.plugin +
                                            " both define metric '" + column.id +
                                            "'; leave one out");
      }
      if (column.id.empty() || column.convention.empty() || column.axis < 0 ||
          column.axis >= static_cast<int32_t>(kAxisCount)) {
        throw Error(ErrorKind::kPlugin,
                    "plugin " + column.plugin + ": metric '" + column.id +
                        "' lacks an id, a known axis or its mandatory convention text");
      }
      results_.columns.push_back(std::move(column));
    }
  }
  const size_t n = results_.columns.size();
  node_state_.resize(n);
  covered_calls_.resize(n);
  finished_.resize(n);
  for (size_t i = 0; i < n; ++i) {
    auto& c = results_.columns[i];
    c.cells[static_cast<size_t>(c.axis)].resize(axis_size(graph_, c.axis));
    if (is_node_metric(c)) node_state_[i].resize(graph_.nodes().size());
  }
}

void Engine::collect_passes() {
  for (auto* p : plugins_) {
    const auto* streamed = p->capability<tmeter_tensor_analyses>(TMETER_CAP_TENSOR_ANALYSIS);
    for (uint32_t i = 0; streamed && i < streamed->count; ++i)
      tensor_uses_.push_back({p, streamed->get(i)});
    const auto* t = p->capability<tmeter_analyses>(TMETER_CAP_ANALYSIS);
    for (uint32_t i = 0; t && i < t->count; ++i) {
      const auto* a = t->get(i);
      passes_.push_back({p, a, split(str(a->required), " "), split(str(a->produced), " ")});
    }
  }
}

size_t Engine::column_index(std::string_view id) const {
  for (size_t i = 0; i < results_.columns.size(); ++i) {
    if (results_.columns[i].id == id) return i;
  }
  return kNone;
}

Column& Engine::own_column(std::string_view id) {
  const size_t i = column_index(id);
  if (i == kNone)
    throw Error(ErrorKind::kPlugin,
                "metric '" + std::string(id) + "' is not declared by any loaded plugin");
  return results_.columns[i];
}

void Engine::configure() {
  for (auto* p : plugins_) {
    const auto* t = p->capability<tmeter_metrics>(TMETER_CAP_METRICS);
    if (t && t->configure)
      call_plugin(*p, "to configure its metrics", [&](tmeter_call* c) { return t->configure(c); });
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
      frames_.push_back({&c, {}});
      const auto status = call_plugin(
          *candidate.plugin, "on module " + std::string(call.module->path), [&](tmeter_call* x) {
            return candidate.handler->eval(x, to_handle(&graph_), to_handle(&call),
                                           candidate.handler->user);
          });
      const auto value = frames_.back().value;
      frames_.pop_back();
      if (status != TMETER_OK) continue;
      cells[call.index] = value;
      covered[call.index] = true;
      break;
    }
  }
}

tmeter_number Engine::ask_handlers(size_t column, const Node& node) {
  auto& c = results_.columns[column];
  for (const auto& candidate : handlers_.for_node(c.id, node)) {
    const auto* h = candidate.handler;
    if (h->flags & TMETER_HANDLER_ZERO_BY_RULE) return number_of_kind(TMETER_NUMBER_ZERO_BY_RULE);
    frames_.push_back({&c, {}});
    tmeter_status status = TMETER_OK;
    try {
      status = call_plugin(*candidate.plugin, "on metric '" + c.id + "'",
                           [&](tmeter_call* x) { return h->eval(x, to_handle(&node), h->user); });
    } catch (const Error& e) {
      const std::string text = e.what();
      throw Error(e.kind(), text.starts_with("node ") ? text : node_text(node) + ": " + text);
    }
    const auto value = frames_.back().value;
    frames_.pop_back();
    if (status == TMETER_OK) return value;
  }
  return number_of_kind(TMETER_NUMBER_UNKNOWN);
}

tmeter_number Engine::evaluate(size_t column, const Node& node) {
  auto& state = node_state_[column][node.index];
  auto& cell = results_.columns[column].cells[TMETER_AXIS_NODE][node.index];
  if (state == 2) return cell;
  if (state == 1) {
    throw Error(ErrorKind::kPlugin, "metrics need each other in a circle: '" +
                                        results_.columns[column].id + "' and '" +
                                        frames_.back().column->id + "'");
  }
  state = 1;
  const auto value = ask_handlers(column, node);
  node_state_[column][node.index] = 2;
  return results_.columns[column].cells[TMETER_AXIS_NODE][node.index] = value;
}

void Engine::evaluate_all(size_t column) {
  run_module_handlers(column);
  const auto& covered = covered_calls_[column];
  for (const auto& node : graph_.nodes()) {
    if (covered[node.call->index]) {
      node_state_[column][node.index] = 2;  // answered by the module, stays NONE
    } else {
      evaluate(column, node);
    }
  }
}

void Engine::finish_column(size_t i) {
  if (finished_[i]) return;
  finished_[i] = 1;
  auto& c = results_.columns[i];
  if (c.axis == TMETER_AXIS_NODE) roll_up_nodes(graph_, results_, c);
  if (c.axis == TMETER_AXIS_MODULE_CALL) roll_up_nodes(graph_, results_, c);
  if (c.axis == TMETER_AXIS_TENSOR) roll_up_tensors(graph_, c);
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
  if (pass.state == 2) return;
  if (pass.state == 1) {
    throw Error(ErrorKind::kPlugin, "analyses need each other in a circle: '" +
                                        str(pass.analysis->name) + "' of plugin " +
                                        pass.plugin->manifest.id);
  }
  pass.state = 1;
  for (const auto& metric : pass.required) require_metric(metric);
  call_plugin(*pass.plugin, "in analysis '" + str(pass.analysis->name) + "'", [&](tmeter_call* c) {
    return pass.analysis->run(c, to_handle(&graph_), pass.analysis->user);
  });
  pass.state = 2;
}

/// Tensors without readable numbers say so in every figure, and once in words.
void Engine::mark_unreadable(const TensorStream& stream) {
  std::map<std::string_view, std::set<const Tensor*>> reasons;
  for (const auto& [tensor, use, why] : stream.unreadable()) {
    reasons[why].insert(tensor);
    for (const auto& id : split(str(use->analysis->produced), " ")) {
      auto& c = own_column(id);
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
  stream.run(threads_, [&](const TensorUse& use, const Tensor& tensor, void* state) {
    const auto* a = use.analysis;
    call_plugin(*use.plugin, "in '" + str(a->name) + "'",
                [&](tmeter_call* c) { return a->emit(c, to_handle(&tensor), state, a->user); });
  });
  mark_unreadable(stream);
}

/// A file of weights alone has no operators: what is counted over them is not 0 but not there.
void Engine::mark_without_graph() {
  if (graph_.property("content") != "weights") return;
  for (auto& c : results_.columns) {
    if (c.axis != TMETER_AXIS_NODE && c.axis != TMETER_AXIS_MODULE_CALL) continue;
    c.cells[TMETER_AXIS_MODULE].clear();
    c.cells[TMETER_AXIS_MODULE_CALL].clear();
    c.cells[TMETER_AXIS_MODEL] = {number_of_kind(TMETER_NUMBER_UNAVAILABLE)};
    c.provenance = TMETER_PROVENANCE_UNAVAILABLE;
    c.provenance_text = "the file holds weights only; a .pt2 or TorchScript file has the operators";
  }
}

Results Engine::run() {
  configure();
  stream_tensors();
  for (size_t i = 0; i < results_.columns.size(); ++i) require_metric(results_.columns[i].id);
  for (auto& pass : passes_) run_pass(pass);
  mark_without_graph();
  mark_worked_out(graph_, results_);
  fill_coverage();
  drop_repeated(results_.findings);
  std::stable_sort(results_.findings.begin(), results_.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return std::move(results_);
}

void Engine::forget_nodes() {
  for (size_t i = 0; i < results_.columns.size(); ++i) {
    auto& c = results_.columns[i];
    if (!is_node_metric(c)) continue;
    for (auto& cells : c.cells) std::fill(cells.begin(), cells.end(), tmeter_number{});
    std::fill(node_state_[i].begin(), node_state_[i].end(), uint8_t{0});
    finished_[i] = 0;
  }
  frames_.clear();  // a run before may have ended with an error
}

const Results& Engine::run_nodes(const std::function<bool(const Column&)>& wanted) {
  configure();  // plugins forget what they know of other sizes
  forget_nodes();
  for (size_t i = 0; i < results_.columns.size(); ++i) {
    const auto& c = results_.columns[i];
    if (!is_node_metric(c) || is_produced(c.id) || !wanted(c)) continue;
    evaluate_all(i);
    finish_column(i);
  }
  return results_;
}

void Engine::fill_coverage() {
  if (graph_.property("content") == "weights") return;  // nothing to cover
  const auto it =
      std::find_if(results_.columns.begin(), results_.columns.end(),
                   [](const Column& c) { return (c.flags & TMETER_METRIC_COVERAGE) != 0; });
  if (it == results_.columns.end()) return;
  auto& out = results_.coverage;
  out.metric = it->id;
  std::map<std::string, uint64_t> unknown;
  for (const auto& node : graph_.nodes()) {
    switch (it->cell(TMETER_AXIS_NODE, node.index).kind) {
      case TMETER_NUMBER_ZERO_BY_RULE:
        ++out.zero_by_rule;
        break;
      case TMETER_NUMBER_UNKNOWN:
        ++out.unknown, ++unknown[node.full_name()];
        break;
      default:
        ++out.counted;
    }
  }
  for (const auto& [op, nodes] : unknown) out.unknown_ops.push_back({op, nodes});
  std::stable_sort(out.unknown_ops.begin(), out.unknown_ops.end(),
                   [](const UnknownOp& a, const UnknownOp& b) { return a.nodes > b.nodes; });
}

void Engine::emit(tmeter_number value) {
  if (frames_.empty())
    throw Error(ErrorKind::kPlugin, "emit is for handlers; an analysis uses emit_at");
  frames_.back().value = value;
}

void Engine::emit_at(std::string_view metric, int32_t axis, size_t index, tmeter_number value) {
  auto& c = own_column(metric);
  if (axis < 0 || axis >= static_cast<int32_t>(kAxisCount) || index >= axis_size(graph_, axis)) {
    throw Error(ErrorKind::kPlugin, "metric '" + c.id + "' was emitted for row " +
                                        std::to_string(index) +
                                        " of a table that does not have it");
  }
  auto& cells = c.cells[static_cast<size_t>(axis)];
  if (cells.size() < axis_size(graph_, axis)) cells.resize(axis_size(graph_, axis));
  cells[index] = value;
}

bool Engine::read(std::string_view metric, int32_t axis, size_t index, tmeter_number& out) {
  const size_t i = column_index(metric);
  if (i == kNone) return false;
  auto& c = results_.columns[i];
  if (axis == TMETER_AXIS_NODE && is_node_metric(c) && index < graph_.nodes().size() &&
      !finished_[i]) {
    const bool handled = !node_state_[i].empty() && frames_.size() > 0;
    out = handled ? evaluate(i, graph_.nodes()[index]) : c.cell(axis, index);
    return true;
  }
  out = c.cell(axis, index);
  return true;
}

void Engine::set_convention(std::string_view metric, std::string_view text) {
  own_column(metric).convention = text;
}

void Engine::set_provenance(std::string_view metric, int32_t provenance, std::string_view text) {
  auto& c = own_column(metric);
  c.provenance = provenance;
  c.provenance_text = text;
}

void Engine::add_finding(const tmeter_finding& f, std::string_view plugin) {
  if (!frames_.empty()) throw Error(ErrorKind::kPlugin, "findings are for analyses, not handlers");
  if (f.rule.len == 0 || f.text.len == 0)
    throw Error(ErrorKind::kPlugin, "a finding needs a rule and a text");
  for (size_t i = 0; i < f.target_count; ++i)
    require_target(f.targets[i], "finding '" + str(f.rule) + "'");
  results_.findings.push_back(make_finding(f, plugin));
}

void Engine::require_target(const tmeter_target& target, std::string_view what) const {
  if (target.index < axis_size(graph_, target.axis)) return;
  throw Error(ErrorKind::kPlugin, std::string(what) + " is about a row that is not there");
}

void Engine::add_distribution(const tmeter_distribution& d, std::string_view plugin) {
  const auto what = "distribution '" + str(d.id) + "'";
  require_target(d.of, what);
  if (d.id.len == 0 || d.bin_count == 0) throw Error(ErrorKind::kPlugin, what + " is empty");
  const std::span edges(d.edges, d.bin_count + 1);
  require_rising(edges, what);
  results_.distributions.push_back({str(d.id),
                                    str(d.title),
                                    str(d.unit),
                                    std::string(plugin),
                                    d.of,
                                    {edges.begin(), edges.end()},
                                    {d.counts, d.counts + d.bin_count}});
}

void Engine::add_series(const tmeter_series& s, std::string_view plugin) {
  const auto what = "series '" + str(s.id) + "'";
  require_target(s.of, what);
  if (s.id.len == 0 || s.point_count == 0) throw Error(ErrorKind::kPlugin, what + " is empty");
  const std::span x(s.x, s.point_count), y(s.y, s.point_count);
  require_rising(x, what);
  if (!std::all_of(y.begin(), y.end(), [](double v) { return std::isfinite(v); }))
    throw Error(ErrorKind::kPlugin, what + " has a point that is not finite");
  results_.series.push_back({str(s.id),
                             str(s.title),
                             str(s.x_title),
                             str(s.x_unit),
                             str(s.y_title),
                             str(s.y_unit),
                             std::string(plugin),
                             s.of,
                             {x.begin(), x.end()},
                             {y.begin(), y.end()}});
}

}  // namespace tmeter::core
