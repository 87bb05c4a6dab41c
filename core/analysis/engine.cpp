#include "core/analysis/engine.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "core/analysis/assumed.hpp"
#include "core/analysis/axes.hpp"
#include "core/analysis/columns.hpp"
#include "core/analysis/coverage.hpp"
#include "core/analysis/engine_calls.hpp"
#include "core/analysis/findings.hpp"
#include "core/analysis/ownership.hpp"
#include "core/analysis/requests.hpp"
#include "core/analysis/rollup.hpp"
#include "core/analysis/worked_out.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/plugin_host/looked_beyond.hpp"
#include "core/process/activity.hpp"

namespace tmeter::core {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);
constexpr double kSense = 1e15;  // a figure of one operator; a thousand of them are no overflow
constexpr uint8_t kAsked = 2;    // times, before a handler's figure is taken for others

bool is_own(std::string_view plugin) { return plugin.starts_with("org.tmeter."); }

bool is_same(const tmeter_number& a, const tmeter_number& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

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
    const auto reason = e.reason();
    if (reason.find(" on node ") != reason.npos || reason.find(" on module ") != reason.npos) throw;
    throw e.placed(" on " + node_text(node));
  } catch (const Error& e) {
    const std::string text = e.what();
    throw Error(e.kind(), text.starts_with("node ") ? text : node_text(node) + ": " + text);
  }
}

}  // namespace

Engine::Engine(const Graph& graph, const std::vector<Plugin*>& plugins, CallLog& log,
               const HardwareSource* hardware)
    : graph_(graph),
      plugins_(plugins),
      context_{&log, this, hardware, nullptr, &graph},
      handlers_(plugins),
      signatures_(graph.nodes().size()) {
  for (auto* p : plugins_) before_.push_back(std::exchange(p->call.run, context_));
  for (const auto* p : plugins_) {
    for (const auto& note : p->offered.notes)
      log.add(TMETER_LOG_WARNING, "tmeter", "plugin " + p->manifest.id + ": " + note);
  }
  collect_columns();
  collect_passes();
  require_useful_handlers();
}

Engine::~Engine() {
  for (size_t i = 0; i < plugins_.size(); ++i) plugins_[i]->call.run = before_[i];
}

void Engine::collect_columns() {
  results_.columns = make_columns(plugins_, graph_);
  progress_.resize(results_.columns.size());
  for (size_t i = 0; i < progress_.size(); ++i) {
    by_id_.emplace(results_.columns[i].id, i);
    progress_[i].handlers = &handlers_.of_metric(results_.columns[i].id);
    progress_[i].doing = "on metric '" + results_.columns[i].id + "'";
    if (is_node_metric(results_.columns[i])) progress_[i].nodes.resize(graph_.nodes().size());
    progress_[i].unrequested = is_unrequested(results_.columns[i].id, results_.columns[i].plugin);
    if (results_.columns[i].failed || progress_[i].unrequested)
      progress_[i].finished = Stage::kDone;
  }
}

bool Engine::is_unrequested(std::string_view id, std::string_view plugin) const {
  return std::any_of(plugins_.begin(), plugins_.end(), [&](const auto* p) {
    return p->manifest.id == plugin && p->unrequested.contains(id);
  });
}

void Engine::collect_passes() {
  for (auto* p : plugins_) {
    for (const auto& a : p->offers().tensor_analyses) {
      if (core::is_unrequested(*p, view(a.produced))) continue;
      tensor_uses_.push_back({p, &a});
      for (const auto& id : split(str(a.produced), " "))
        if (const auto i = column_index(id); i != kNone) progress_[i].streamed = true;
    }
    for (const auto& o : p->offers().observers) {
      observer_uses_.push_back({p, &o});
      for (const auto& id : split(str(o.produced), " "))
        if (const auto i = column_index(id); i != kNone) progress_[i].observed = true;
    }
    for (const auto& a : p->offers().analyses) {
      if (core::is_unrequested(*p, view(a.produced))) continue;
      passes_.push_back({p, &a, split(str(a.required), " "), split(str(a.produced), " ")});
      for (const auto& id : passes_.back().produced)
        if (const auto i = column_index(id); i != kNone)
          progress_[i].passes.push_back(passes_.size() - 1);
    }
  }
}

/// A handler that would never be asked is a mistake that nobody would notice.
void Engine::require_useful_handlers() const {
  const auto check = [&](const Plugin& plugin, tmeter_str metric) {
    const size_t i = column_index(view(metric));
    if (i == kNone) return;  // its plugin takes no part
    const auto& c = results_.columns[i];
    if (is_node_metric(c) && !progress_[i].is_produced()) return;
    throw PluginError(plugin.manifest.id, "on metric '" + c.id + "'",
                      "no handler is asked for it, as " +
                          std::string(is_node_metric(c) ? "an analysis gives its figures"
                                                        : "it has no figures of operators"));
  };
  for (const auto* p : plugins_) {
    for (const auto& h : p->offers().op_handlers) check(*p, h.metric);
    for (const auto& h : p->offers().module_handlers) check(*p, h.metric);
  }
}

/// Plugins name metrics again and again, figure by figure.
size_t Engine::column_index(std::string_view id) const {
  auto& last = asked_last_[id.size() % asked_last_.size()];
  if (last < results_.columns.size() && results_.columns[last].id == id) return last;
  const auto at = by_id_.find(id);
  return at == by_id_.end() ? kNone : last = at->second;
}

/// Throws Error(kPlugin): to be called on behalf of a plugin.
Column& Engine::column_at(std::string_view id) {
  const size_t i = column_index(id);
  if (i == kNone) {
    throw Error(ErrorKind::kPlugin,
                "metric '" + printable(id) + "' is not declared by any loaded plugin");
  }
  return results_.columns[i];
}

/// Null for a metric of the plugin's that was left out: what it says of it is no part of the
/// results.
Column* Engine::own_column(std::string_view id, std::string_view plugin) {
  const auto is_left_out = [&](const Plugin* p) {
    const auto& ids = p->offered.left_out;
    return p->manifest.id == plugin && std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  if (column_index(id) == kNone && std::any_of(plugins_.begin(), plugins_.end(), is_left_out))
    return nullptr;
  auto& column = column_at(id);
  require_own(column, plugin);
  return &column;
}

void Engine::configure() {
  configured_ = false;
  for (auto* p : plugins_) {
    if (!p->is_open() || !p->failure.empty()) continue;
    const auto& entry = p->started->entry();
    if (!entry.configure) continue;
    call_plugin(*p, "to configure itself",
                [&](tmeter_call* c) { return entry.configure(c, entry.user); });
  }
  configured_ = true;
}

Engine::Given Engine::ask_handlers(size_t column, const Node& node) {
  auto& c = results_.columns[column];
  Given given{number_of_kind(TMETER_NUMBER_UNKNOWN)};
  for (const auto& candidate : handlers_.for_node(*progress_[column].handlers, c.id, node)) {
    const auto* h = candidate.handler;
    const bool zero = h->flags & TMETER_HANDLER_ZERO_BY_RULE;
    if (!zero && !(h->flags & TMETER_HANDLER_BY_SIGNATURE)) given.by_signature = false;
    const auto value =
        zero ? number_of_kind(TMETER_NUMBER_ZERO_BY_RULE)
             : ask(*candidate.plugin, {&c, &node}, progress_[column].doing,
                   [&](tmeter_call* x) { return h->eval(x, to_handle(&node), h->user); });
    if (!value) continue;
    note_override(c, *candidate.plugin, candidate.overridden, node.op);
    given.value = *value;
    given.by = candidate.plugin;
    break;
  }
  return given;
}

/// Both sides of a circle, and all between them, by name.
void Engine::tell_circle(const Step& step) const {
  const auto name = [](const Step& s) {
    return s.column ? "'" + s.column->id + "' (plugin " + s.column->plugin + ")"
                    : "analysis '" + str(s.pass->analysis->name) + "' (plugin " +
                          s.pass->plugin->manifest.id + ")";
  };
  auto at = std::find(at_work_.begin(), at_work_.end(), step);
  std::string text = name(step);
  for (std::vector<Step> told{step}; at != at_work_.end(); ++at) {
    if (std::find(told.begin(), told.end(), *at) != told.end()) continue;
    text += " and " + name(*at);
    told.push_back(*at);
  }
  throw Error(ErrorKind::kPlugin, "metrics need each other in a circle: " + text);
}

tmeter_number Engine::evaluate(size_t column, const Node& node) {
  auto& progress = progress_[column];
  auto& cells = results_.columns[column].cells[TMETER_AXIS_NODE];
  auto& stage = progress.nodes[node.index];
  if (stage == Stage::kDone || results_.columns[column].failed) return cells[node.index];
  if (progress.answered != Stage::kDone && !reads_own_inside(column, node)) answer_calls(column);
  if (stage == Stage::kDone) return cells[node.index];  // covered
  if (const auto* known = known_of(column, node); known && known->asked == kAsked) {
    stage = Stage::kDone;
    cells.set(node.index, known->value);
    return known->value;
  }
  const AtNode at(static_cast<int64_t>(node.index), node.op, node.call->module->path);
  try {
    Working working(*this, stage, {&results_.columns[column]});
    const BeyondWatch watch;
    const auto given = ask_handlers(column, node);
    if (given.by_signature && !watch.looked()) keep(column, node, given);
    cells.set(node.index, given.value);
    working.done();
    return given.value;
  } catch (const Error& e) {
    try {
      blame_figure(&node, e);
      throw;
    } catch (...) {
      rethrow_at(node);
    }
  }
}

/// What was given to operators like this one; null where none was asked, or nothing holds for all.
const Engine::Known* Engine::known_of(size_t column, const Node& node) {
  const auto& known = progress_[column].known;
  const auto signature = signatures_.of(node);
  const bool is_there = signature < known.size() && known[signature].asked > 0;
  return is_there ? &known[signature] : nullptr;
}

/// A handler is asked twice before it is believed: one that counts, or goes by what it saw before,
/// would give others' operators wrong figures.
void Engine::keep(size_t column, const Node& node, const Given& given) {
  const auto signature = signatures_.of(node);
  if (signature == Signatures::kNone) return;
  auto& known = progress_[column].known;
  if (known.size() <= signature) known.resize(std::max<size_t>(signature + 1, known.size() * 2));
  auto& figure = known[signature];
  if (figure.asked++ == 0) {
    figure.value = given.value;
  } else if (!is_same(figure.value, given.value)) {
    throw PluginError(
        given.by ? given.by->manifest.id : results_.columns[column].plugin, progress_[column].doing,
        "it gives another figure than to an operator that is the same in all that its "
        "signature shows, although it says that it goes by that "
        "(TMETER_HANDLER_BY_SIGNATURE)");
  }
}

void Engine::evaluate_all(size_t column) {
  answer_calls(column);
  for (const auto& node : graph_.nodes()) evaluate(column, node);
}

/// As `evaluate` for the nodes from `first` on, whose signatures are `alike`; without looking at
/// those of which the figure is known.
void Engine::evaluate_block(size_t column, std::span<const uint32_t> alike, size_t first) {
  auto& progress = progress_[column];
  auto& cells = results_.columns[column].cells[TMETER_AXIS_NODE];
  if (results_.columns[column].failed) return;
  for (size_t i = 0; i < alike.size(); ++i) {
    auto& stage = progress.nodes[first + i];
    if (stage == Stage::kDone) continue;
    if (alike[i] < progress.known.size() && progress.known[alike[i]].asked == kAsked) {
      stage = Stage::kDone;
      cells.set(first + i, progress.known[alike[i]].value);
    } else {
      evaluate(column, graph_.nodes()[first + i]);
    }
  }
}

/// Of a large graph a metric would find nothing in the cache of what the one before has looked at:
/// so all metrics are asked about some nodes, and then about the next. Figures do not depend on who
/// asks first.
void Engine::evaluate_in_blocks() {
  constexpr size_t kBlock = 128;
  if (graph_.nodes().size() < kLarge) return;
  std::vector<size_t> columns;
  for (size_t i = 0; i < results_.columns.size(); ++i)
    if (is_node_metric(results_.columns[i]) && !progress_[i].is_produced() &&
        !progress_[i].unrequested)
      columns.push_back(i);
  for (const auto column : columns) answer_calls(column);
  const auto& nodes = graph_.nodes();
  std::vector<uint32_t> alike;
  for (size_t first = 0; first < nodes.size(); first += kBlock) {
    alike.clear();
    for (size_t i = first; i < std::min(first + kBlock, nodes.size()); ++i)
      alike.push_back(signatures_.of(nodes[i]));
    for (const auto column : columns) evaluate_block(column, alike, first);
  }
  for (const auto column : columns) {
    progress_[column].asked_all = true;
    add_up_meanwhile(column);
  }
}

/// Analyses of a large graph, in the order in which columns would ask for them.
void Engine::produce_together() {
  if (graph_.nodes().size() < kLarge) return;
  for (size_t i = 0; i < results_.columns.size(); ++i) {
    if (progress_[i].finished == Stage::kDone) continue;
    for (const auto pass : progress_[i].passes) run_pass(passes_[pass]);
    if (progress_[i].is_produced()) add_up_meanwhile(i);
  }
  help_to_add_up();
}

/// Another thread adds up what needs no other column and does not change any more, while analyses
/// run. What fails there fails again when it is its turn, and is told then.
void Engine::add_up_meanwhile(size_t i) {
  const auto& c = results_.columns[i];
  const bool waits = c.aggregation == TMETER_AGGREGATE_WEIGHTED_MEAN;
  if (threads_ < 2 || activity().watchful || c.failed || waits ||
      progress_[i].finished == Stage::kDone)
    return;
  if (!adding_up_) adding_up_.emplace([this](size_t column) { add_up(results_.columns[column]); });
  progress_[i].handed_over = true;
  adding_up_->add(i);
}

/// Until nothing of what was handed over waits any more.
void Engine::help_to_add_up() {
  if (!adding_up_) return;
  while (const auto i = adding_up_->take_last()) {
    progress_[*i].handed_over = false;
    try_to_add_up(*i);
  }
}

/// From then on no other thread looks at the column.
void Engine::settle(size_t i) {
  if (!std::exchange(progress_[i].handed_over, false)) return;
  if (adding_up_->take(i))
    progress_[i].added_up = true;
  else
    try_to_add_up(i);
}

void Engine::try_to_add_up(size_t i) {
  try {
    add_up(results_.columns[i]);
    progress_[i].added_up = true;
  } catch (const Error&) {
  }
}

void Engine::add_up(Column& c) {
  try {
    if (c.axis == TMETER_AXIS_NODE || c.axis == TMETER_AXIS_MODULE_CALL)
      roll_up_nodes(graph_, results_, c);
    if (c.axis == TMETER_AXIS_TENSOR) roll_up_tensors(graph_, results_, c);
  } catch (const Overflow& e) {
    blame_overflow(c, e);
  }
}

void Engine::note_largest(const Column& c, const Plugin& by, const tmeter_number& value) {
  auto& progress = progress_[index_of(c)];
  const double magnitude = std::abs(real(value));
  if (magnitude <= progress.largest) return;
  progress.largest = magnitude;
  progress.largest_by = &by;
}

/// The plugin that gave the largest figure is to blame, or whoever gave the figures that this
/// metric is computed from. Where all are ours, it is the file that is too large.
void Engine::blame_overflow(const Column& c, const Error& overflow) const {
  const auto* by = progress_[index_of(c)].largest_by;
  const auto& culprit = by ? by->manifest.id : c.plugin;
  if (is_own(culprit)) {
    blame_figure(nullptr, overflow);
    throw overflow;
  }
  throw PluginError(culprit, "on metric '" + c.id + "'", overflow.what());
}

/// A metric or analysis that reads others fails on a figure beyond reason: the plugin that gave
/// that figure is to blame. `node`: where it failed; null: it reads figures of many rows.
void Engine::blame_figure(const Node* node, const Error& error) const {
  const auto* failed = dynamic_cast<const PluginError*>(&error);
  if (failed ? !is_own(failed->plugin()) : error.kind() != ErrorKind::kModel) return;
  const std::string what = failed ? failed->reason() : error.what();
  for (size_t i = 0; i < progress_.size(); ++i) {
    const auto& c = results_.columns[i];
    const auto* by = progress_[i].largest_by;
    if (!is_node_metric(c) || !by || is_own(by->manifest.id)) continue;
    const auto& cells = c.cells[TMETER_AXIS_NODE];
    if (node && node->index >= cells.size()) continue;
    const double given = node ? std::abs(real(cells[node->index])) : progress_[i].largest;
    if (given < kSense) continue;
    throw PluginError(by->manifest.id, "on metric '" + c.id + "'",
                      "its figure is too large to reckon with: " +
                          (failed ? "plugin " + failed->plugin() + " " + what : what));
  }
}

void Engine::roll_up(size_t i) {
  auto& c = results_.columns[i];
  settle(i);
  if (progress_[i].added_up) return;
  if (c.aggregation == TMETER_AGGREGATE_WEIGHTED_MEAN) require(column_index(c.weight));
  add_up(c);
}

void Engine::require(size_t i) {
  auto& progress = progress_[i];
  if (progress.finished == Stage::kDone) return;
  Working working(*this, progress.finished, {&results_.columns[i]});
  for (const auto pass : progress.passes) run_pass(passes_[pass]);
  if (!progress.is_produced() && is_node_metric(results_.columns[i]) && !progress.asked_all)
    evaluate_all(i);
  roll_up(i);
  working.done();
}

void Engine::run_pass(Pass& pass) {
  if (pass.stage == Stage::kDone) return;
  Working working(*this, pass.stage, {nullptr, &pass});
  const auto doing = "in analysis '" + str(pass.analysis->name) + "'";
  for (const auto& metric : pass.required) {
    if (column_index(metric) == kNone)
      throw PluginError(
          pass.plugin->manifest.id, doing,
          "metric '" + printable(metric) + "' is required but no loaded plugin has it");
    require(column_index(metric));
  }
  const FrameOf frame(*this, {nullptr, nullptr, nullptr, &pass});
  try {
    call_plugin(*pass.plugin, doing, [&](tmeter_call* c) {
      return pass.analysis->run(c, to_handle(&graph_), pass.analysis->user);
    });
  } catch (const Error& e) {
    blame_figure(nullptr, e);
    throw;
  }
  working.done();
}

/// Tensors without readable numbers say so in every figure, and once in words.
void Engine::mark_unreadable(const TensorStream& stream) {
  std::map<std::string_view, std::set<size_t>> reasons;  // → tensors
  std::map<const TensorUse*, std::vector<Column*>> produced;
  for (const auto& [tensor, use, why] : stream.unreadable()) {
    reasons[why].insert(tensor->index);
    const auto [at, is_new] = produced.try_emplace(use);
    if (is_new)
      for (const auto& id : split(str(use->analysis->produced), " "))
        if (auto* column = own_column(id, use->plugin->manifest.id)) at->second.push_back(column);
    for (auto* column : at->second) {
      auto& c = *column;
      if (c.axis == TMETER_AXIS_TENSOR)
        c.cells[TMETER_AXIS_TENSOR].set(tensor->index, number_of_kind(TMETER_NUMBER_UNAVAILABLE));
      if (!stream.empty()) continue;
      c.provenance = TMETER_PROVENANCE_UNAVAILABLE;
      c.provenance_text = why;
    }
  }
  for (const auto& [why, tensors] : reasons) {
    const auto n = tensors.size();
    context_.log->add(TMETER_LOG_WARNING, "tmeter",
                      "the numbers of " + std::to_string(n) +
                          (n == 1 ? " tensor, '" : " tensors, as of '") +
                          std::string(graph_.tensors()[*tensors.begin()].name) +
                          "', cannot be read: " + std::string(why));
  }
}

void Engine::stream_tensors() {
  if (tensor_uses_.empty() || !context_.tensors) return;
  streaming_ = true;
  TensorStream stream(graph_, tensor_uses_, *context_.tensors, *context_.log);
  stream.run(activity().watchful ? 1 : threads_,
             [&](const TensorUse& use, const Tensor& tensor, void* state) {
               const auto* a = use.analysis;
               call_plugin(*use.plugin, "in '" + str(a->name) + "'", [&](tmeter_call* c) {
                 return a->emit(c, to_handle(&tensor), state, a->user);
               });
             });
  streaming_ = false;
  mark_unreadable(stream);
}

void Engine::observe_runs() {
  if (!runs_) return;
  observing_ = true;
  runs_->run(graph_, observer_uses_);
  observing_ = false;
  for (const auto& use : observer_uses_) mark_unmeasured(use);
}

/// What an observer does not tell of is not known: a sum over it is a lower bound.
void Engine::mark_unmeasured(const ObserverUse& use) {
  for (const auto& id : split(str(use.observer->produced), " ")) {
    auto* own = own_column(id, use.plugin->manifest.id);
    if (!own) continue;
    auto& c = *own;
    auto& cells = c.cells[static_cast<size_t>(c.axis)];
    cells.resize(axis_size(graph_, c.axis));
    for (size_t i = 0; i < cells.size(); ++i)
      if (cells.kind(i) == TMETER_NUMBER_NONE)
        cells.set(i, number_of_kind(TMETER_NUMBER_UNAVAILABLE));
  }
}

/// Columns that need a run of the model, where there was none, and those that nobody asked for.
void Engine::drop_absent() {
  size_t i = 0;
  std::erase_if(results_.columns, [&](const Column&) {
    const auto& progress = progress_[i++];
    return progress.unrequested || (progress.observed && !runs_);
  });
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
  observe_runs();
  evaluate_in_blocks();
  produce_together();
  for (size_t i = 0; i < results_.columns.size(); ++i) require(i);
  for (auto& pass : passes_) run_pass(pass);
  adding_up_.reset();
  if (graph_.property("content") == "weights") {
    mark_without_graph(results_.columns);
  } else {
    results_.coverage = coverage_of(results_.columns, graph_);
    for (auto& text : omissions(results_.columns, graph_, results_.coverage))
      context_.log->add(TMETER_LOG_WARNING, "tmeter", text);
  }
  tell_overrides();
  mark_worked_out(graph_, results_);
  mark_assumed(graph_, results_);
  drop_absent();
  drop_repeated(results_.findings);
  most_severe_first(results_.findings);
  return std::move(results_);
}

/// All but what was found in tensors: that does not depend on sizes.
void Engine::forget_nodes() {
  for (size_t i = 0; i < results_.columns.size(); ++i) {
    auto& c = results_.columns[i];
    auto& progress = progress_[i];
    if (c.failed || progress.unrequested || progress.streamed || progress.observed) continue;
    for (auto& cells : c.cells) cells.assign(cells.size(), {});
    std::fill(progress.nodes.begin(), progress.nodes.end(), Stage::kWaiting);
    progress.known.clear();
    progress.asked_all = progress.added_up = false;
    progress.calls.clear();
    progress.covers = false;
    progress.answered = progress.finished = Stage::kWaiting;
  }
  for (auto& pass : passes_) pass.stage = Stage::kWaiting;
  signatures_.forget();
}

const Results& Engine::run_nodes(const std::function<bool(const Column&)>& wanted) {
  configure();  // plugins forget what they know of other sizes
  forget_nodes();
  for (size_t i = 0; i < results_.columns.size(); ++i) {
    const auto& c = results_.columns[i];
    if (is_node_metric(c) && !c.failed && !progress_[i].is_produced() && wanted(c)) require(i);
  }
  return results_;
}

}  // namespace tmeter::core
