// What plugins call while the engine runs them.
#include <algorithm>

#include "core/analysis/axes.hpp"
#include "core/analysis/distributions.hpp"
#include "core/analysis/engine.hpp"
#include "core/analysis/findings.hpp"
#include "core/analysis/ownership.hpp"
#include "core/base/error.hpp"
#include "core/plugin_host/looked_beyond.hpp"

namespace tmeter::core {

void Engine::emit(tmeter_number value) {
  if (frames_.empty() || !frames_.back().column)
    throw Error(ErrorKind::kPlugin, "emit is for handlers; an analysis uses emit_at");
  require_figure(*frames_.back().column, value);
  value.flags &= ~uint32_t{TMETER_NUMBER_BY_MODULE};  // the host's to say
  frames_.back().value = value;
  frames_.back().emitted = true;
}

void Engine::emit_at(std::string_view metric, int32_t axis, size_t index, tmeter_number value,
                     std::string_view plugin) {
  if (is_in_handler())
    throw Error(ErrorKind::kPlugin, "emit_at is for analyses; a handler uses emit");
  auto& c = own_column(metric, plugin);
  require_table(c, axis);
  require_figure(c, value);
  const auto rows = axis_size(graph_, axis);
  if (index >= rows) {
    throw Error(ErrorKind::kPlugin, "metric '" + c.id + "' was emitted for row " +
                                        std::to_string(index) +
                                        " of a table that does not have it");
  }
  settle(static_cast<size_t>(&c - results_.columns.data()));
  auto& cells = c.cells[static_cast<size_t>(axis)];
  if (cells.size() < rows) cells.resize(rows);
  value.flags &= ~uint32_t{TMETER_NUMBER_BY_MODULE};
  cells.set(index, value);
}

bool Engine::is_in_handler() const { return !frames_.empty() && frames_.back().column; }

/// An analysis at work reads what it has emitted itself as it stands.
bool Engine::is_emitting(size_t column) const {
  const auto* pass = frames_.empty() ? nullptr : frames_.back().pass;
  if (!pass) return false;
  const auto& passes = progress_[column].passes;
  return std::any_of(passes.begin(), passes.end(),
                     [&](size_t own) { return &passes_[own] == pass; });
}

bool Engine::read(std::string_view metric, int32_t axis, size_t index, tmeter_number& out) {
  const size_t i = column_index(metric);
  if (i == kNone || progress_[i].unrequested || (progress_[i].observed && !runs_)) return false;
  auto& c = results_.columns[i];
  if (!configured_)
    throw Error(ErrorKind::kPlugin,
                "metrics have no figures yet while plugins configure themselves");
  if (streaming_ && progress_[i].streamed)
    throw Error(ErrorKind::kPlugin,
                "metric '" + c.id + "' has no figures before all tensors have been read");
  if (observing_ && progress_[i].observed)
    throw Error(ErrorKind::kPlugin,
                "metric '" + c.id + "' has no figures before the model has been run");
  out = {};
  if (axis < 0 || index >= axis_size(graph_, axis)) return true;
  const bool of_nodes = is_node_metric(c) && !progress_[i].is_produced();
  if (axis == TMETER_AXIS_NODE && of_nodes && progress_[i].finished != Stage::kDone)
    evaluate(i, graph_.nodes()[index]);
  else if (!is_emitting(i))
    require(i);
  out = c.cell(axis, index);
  if (!follows_signature(i, axis, index)) look_beyond();
  return true;
}

/// Whether a handler at work would read the same at every operator like the one it is asked about:
/// not where a call is answered as a whole, in which such operators have no figure of their own.
bool Engine::follows_signature(size_t column, int32_t axis, size_t index) {
  if (!is_in_handler() || axis != TMETER_AXIS_NODE) return false;
  const auto* node = frames_.back().node;
  return node && node->index == index && !progress_[column].covers && known_of(column, *node);
}

void Engine::set_convention(std::string_view metric, std::string_view text,
                            std::string_view plugin) {
  own_column(metric, plugin).convention = text;
}

void Engine::set_provenance(std::string_view metric, int32_t provenance, std::string_view text,
                            std::string_view plugin) {
  auto& c = own_column(metric, plugin);
  require_provenance(c, provenance);
  c.provenance = provenance;
  c.provenance_text = text;
}

std::string_view Engine::op_class(const Node& node) { return handlers_.class_of(node); }

void Engine::add_finding(const tmeter_finding& f, std::string_view plugin) {
  if (is_in_handler()) throw Error(ErrorKind::kPlugin, "findings are for analyses, not handlers");
  results_.findings.push_back(make_finding(f, plugin, graph_));
}

void Engine::add_distribution(const tmeter_distribution& d, std::string_view plugin) {
  results_.distributions.push_back(make_distribution(d, plugin, graph_));
}

void Engine::add_series(const tmeter_series& s, std::string_view plugin) {
  results_.series.push_back(make_series(s, plugin, graph_));
}

}  // namespace tmeter::core
