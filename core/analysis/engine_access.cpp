// The functions that plugins call while the engine runs them.
#include <algorithm>

#include "core/analysis/emission_rules.hpp"
#include "core/analysis/engine.hpp"
#include "core/analysis/findings.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/plugin_limits.hpp"
#include "core/plugin_host/signature_escape.hpp"

namespace tmeter::core {
namespace {

void require_room(size_t count, size_t max, const char* what) {
  if (count > max)
    throw Error(ErrorKind::kPlugin,
                "it gives more than " + std::to_string(max) + " " + what + ", tmeter's limit");
}

/// Clears payloads that the kind does not use, and flags that only the host sets.
tmeter_number cleared(tmeter_number n) {
  if (n.kind != TMETER_NUMBER_INT) n.i = 0;
  if (n.kind != TMETER_NUMBER_FLOAT) n.f = 0;
  n.flags &= ~(uint32_t{TMETER_NUMBER_BY_MODULE} | TMETER_NUMBER_ASSUMED);
  return n;
}

}  // namespace

void Engine::emit(tmeter_number value) {
  if (callbacks_.empty() || !callbacks_.back().column)
    throw Error(ErrorKind::kPlugin, "emit is for handlers; an analysis uses emit_at");
  require_value(*callbacks_.back().column, value);
  callbacks_.back().value = cleared(value);
  callbacks_.back().emitted = true;
}

void Engine::emit_at(std::string_view metric, int32_t axis, size_t index, tmeter_number value,
                     std::string_view plugin) {
  if (is_in_handler())
    throw Error(ErrorKind::kPlugin, "emit_at is for analyses; a handler uses emit");
  if (!configured_)
    throw Error(ErrorKind::kPlugin,
                "emit_at is for analyses, not for plugins that configure themselves");
  auto* own = own_column(metric, plugin);
  if (!own) return;
  auto& c = *own;
  require_table(c, axis);
  require_value(c, value);
  const auto rows = axis_size(graph_, axis);
  if (index >= rows) {
    throw Error(ErrorKind::kPlugin, "metric '" + c.id + "' was emitted for row " +
                                        std::to_string(index) +
                                        " of a table that does not have it");
  }
  auto& cells = c.cells[static_cast<size_t>(axis)];
  if (cells.size() < rows) cells.resize(rows);
  cells.set(index, cleared(value));
}

/// A running analysis may read its own incomplete column.
bool Engine::is_producing(size_t column) const {
  const auto* analysis = callbacks_.empty() ? nullptr : callbacks_.back().analysis;
  const auto& producers = states_[column].analyses;
  return analysis && std::any_of(producers.begin(), producers.end(),
                                 [&](size_t own) { return &analyses_[own] == analysis; });
}

bool Engine::read(std::string_view metric, int32_t axis, size_t index, tmeter_number& out) {
  const size_t i = column_index(metric);
  if (i == kNone || states_[i].unrequested || (states_[i].observed && !runs_)) return false;
  auto& c = results_.columns[i];
  if (!configured_)
    throw Error(ErrorKind::kPlugin,
                "metrics have no values yet while plugins configure themselves");
  if (streaming_ && states_[i].streamed)
    throw Error(ErrorKind::kPlugin,
                "metric '" + c.id + "' has no values before all tensors have been read");
  if (observing_ && states_[i].observed)
    throw Error(ErrorKind::kPlugin,
                "metric '" + c.id + "' has no values before the model has been run");
  out = {};
  if (axis < 0 || index >= axis_size(graph_, axis)) return true;
  const bool of_nodes = is_node_metric(c) && !states_[i].is_produced();
  if (axis == TMETER_AXIS_NODE && of_nodes && states_[i].complete != Stage::kDone)
    evaluate(i, index);
  else if (!is_producing(i))
    require(i);
  out = c.cell(axis, index);
  if (!stays_within_signature(i, axis, index)) SignatureEscape::note();
  return true;
}

/// Whether a handler would read the same value at every operator of the signature. False if some
/// calls are answered by module handlers: the operators inside have no values.
bool Engine::stays_within_signature(size_t column, int32_t axis, size_t index) const {
  if (!is_in_handler() || axis != TMETER_AXIS_NODE) return false;
  const auto* node = callbacks_.back().node;
  return node && node->index == index && !states_[column].has_answered_calls &&
         shared_value(column, index);
}

void Engine::set_convention(std::string_view metric, std::string_view text,
                            std::string_view plugin) {
  auto* c = own_column(metric, plugin);
  if (!c) return;
  if (text.empty())
    throw Error(ErrorKind::kPlugin, "metric '" + c->id + "' was given an empty convention");
  c->convention = visible(text, plugin_limits::kTextBytes);
}

void Engine::set_provenance(std::string_view metric, int32_t provenance, std::string_view text,
                            std::string_view plugin) {
  auto* c = own_column(metric, plugin);
  if (!c) return;
  require_provenance(*c, provenance);
  c->provenance = provenance;
  c->provenance_text = visible(text, plugin_limits::kTextBytes);
}

std::string_view Engine::op_class(const Node& node) { return handlers_.class_of(node); }

Engine::ReportedAmounts& Engine::reported_by(std::string_view plugin) {
  const auto at = reported_.find(plugin);
  return at != reported_.end() ? at->second : reported_[std::string(plugin)];
}

void Engine::require_analysis(const char* what) const {
  if (is_in_handler() || !configured_)
    throw Error(ErrorKind::kPlugin,
                std::string(what) + " are for analyses, not for handlers or `configure`");
}

void Engine::add_finding(const tmeter_finding& f, std::string_view plugin) {
  require_analysis("findings");
  auto& reported = reported_by(plugin);
  require_room(++reported.findings, plugin_limits::kFindings, "findings");
  auto finding = make_finding(f, plugin, graph_);
  reported.text_bytes += finding.text.size() + finding.evidence.size() + finding.action.size();
  require_room(reported.text_bytes, plugin_limits::kFindingBytes, "bytes of findings");
  require_room(reported.targets += finding.targets.size(), plugin_limits::kTargets,
               "targets of findings");
  results_.findings.push_back(std::move(finding));
}

void Engine::add_distribution(const tmeter_distribution& d, std::string_view plugin) {
  require_analysis("distributions");
  auto& reported = reported_by(plugin);
  require_room(++reported.distributions, plugin_limits::kDistributions, "distributions");
  auto made = make_distribution(d, plugin, graph_);
  require_room(reported.elements += made.edges.size() + made.counts.size(), plugin_limits::kNumbers,
               "values of distributions and series");
  results_.distributions.push_back(std::move(made));
}

void Engine::add_series(const tmeter_series& s, std::string_view plugin) {
  require_analysis("series");
  auto& reported = reported_by(plugin);
  require_room(++reported.series, plugin_limits::kSeries, "series");
  auto made = make_series(s, plugin, graph_);
  require_room(reported.elements += made.x.size() + made.y.size(), plugin_limits::kNumbers,
               "values of distributions and series");
  results_.series.push_back(std::move(made));
}

}  // namespace tmeter::core
