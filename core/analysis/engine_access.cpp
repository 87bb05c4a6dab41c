// What plugins call while the engine runs them.
#include <algorithm>

#include "core/analysis/axes.hpp"
#include "core/analysis/distributions.hpp"
#include "core/analysis/engine.hpp"
#include "core/analysis/findings.hpp"
#include "core/analysis/ownership.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/looked_beyond.hpp"
#include "core/plugin_host/said_limits.hpp"

namespace tmeter::core {
namespace {

void require_room(size_t count, size_t most, const char* what) {
  if (count > most)
    throw Error(ErrorKind::kPlugin,
                "it gives more than " + std::to_string(most) + " " + what + ", tmeter's limit");
}

/// Without what a kind has no use for, and what is the host's to say.
tmeter_number cleared(tmeter_number n) {
  if (n.kind != TMETER_NUMBER_INT) n.i = 0;
  if (n.kind != TMETER_NUMBER_FLOAT) n.f = 0;
  n.flags &= ~(uint32_t{TMETER_NUMBER_BY_MODULE} | TMETER_NUMBER_ASSUMED);
  return n;
}

}  // namespace

void Engine::emit(tmeter_number value) {
  if (frames_.empty() || !frames_.back().column)
    throw Error(ErrorKind::kPlugin, "emit is for handlers; an analysis uses emit_at");
  require_figure(*frames_.back().column, value);
  frames_.back().value = cleared(value);
  frames_.back().emitted = true;
}

void Engine::emit_at(std::string_view metric, int32_t axis, size_t index, tmeter_number value,
                     std::string_view plugin) {
  if (is_in_handler())
    throw Error(ErrorKind::kPlugin, "emit_at is for analyses; a handler uses emit");
  if (!configured_)
    throw Error(ErrorKind::kPlugin, "emit_at is for analyses, not for plugins that configure themselves");
  auto* own = own_column(metric, plugin);
  if (!own) return;
  auto& c = *own;
  require_table(c, axis);
  require_figure(c, value);
  const auto rows = axis_size(graph_, axis);
  if (index >= rows) {
    throw Error(ErrorKind::kPlugin, "metric '" + c.id + "' was emitted for row " +
                                        std::to_string(index) +
                                        " of a table that does not have it");
  }
  settle(index_of(c));
  auto& cells = c.cells[static_cast<size_t>(axis)];
  if (cells.size() < rows) cells.resize(rows);
  cells.set(index, cleared(value));
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
  auto* c = own_column(metric, plugin);
  if (!c) return;
  if (text.empty())
    throw Error(ErrorKind::kPlugin, "metric '" + c->id + "' was given an empty convention");
  c->convention = visible(text, said::kTextBytes);
}

void Engine::set_provenance(std::string_view metric, int32_t provenance, std::string_view text,
                            std::string_view plugin) {
  auto* c = own_column(metric, plugin);
  if (!c) return;
  require_provenance(*c, provenance);
  c->provenance = provenance;
  c->provenance_text = visible(text, said::kTextBytes);
}

std::string_view Engine::op_class(const Node& node) { return handlers_.class_of(node); }

Engine::Said& Engine::said_by(std::string_view plugin) {
  const auto at = said_.find(plugin);
  return at != said_.end() ? at->second : said_[std::string(plugin)];
}

void Engine::require_analysis(const char* what) const {
  if (is_in_handler() || !configured_)
    throw Error(ErrorKind::kPlugin, std::string(what) + " are for analyses, not for handlers or `configure`");
}

void Engine::add_finding(const tmeter_finding& f, std::string_view plugin) {
  require_analysis("findings");
  auto& said = said_by(plugin);
  require_room(++said.findings, said::kFindings, "findings");
  auto finding = make_finding(f, plugin, graph_);
  said.text_bytes += finding.text.size() + finding.evidence.size() + finding.action.size();
  require_room(said.text_bytes, said::kFindingBytes, "bytes of findings");
  require_room(said.targets += finding.targets.size(), said::kTargets, "targets of findings");
  results_.findings.push_back(std::move(finding));
}

void Engine::add_distribution(const tmeter_distribution& d, std::string_view plugin) {
  require_analysis("distributions");
  auto& said = said_by(plugin);
  require_room(++said.distributions, said::kDistributions, "distributions");
  auto made = make_distribution(d, plugin, graph_);
  require_room(said.numbers += made.edges.size() + made.counts.size(), said::kNumbers,
               "numbers of distributions and series");
  results_.distributions.push_back(std::move(made));
}

void Engine::add_series(const tmeter_series& s, std::string_view plugin) {
  require_analysis("series");
  auto& said = said_by(plugin);
  require_room(++said.series, said::kSeries, "series");
  auto made = make_series(s, plugin, graph_);
  require_room(said.numbers += made.x.size() + made.y.size(), said::kNumbers,
               "numbers of distributions and series");
  results_.series.push_back(std::move(made));
}

}  // namespace tmeter::core
