#include "core/analysis/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/analysis/axes.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/adopt.hpp"
#include "core/plugin_host/said_limits.hpp"

namespace tmeter::core {
namespace {

void require_rising(std::span<const double> values, const std::string& what) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && (i == 0 || values[i - 1] < values[i])) continue;
    throw Error(ErrorKind::kPlugin, what + " has edges that do not rise or are not finite");
  }
}

std::string title_of(tmeter_str text) { return visible(view(text), said::kTitleBytes); }

}  // namespace

Distribution make_distribution(const tmeter_distribution& theirs, std::string_view plugin,
                               const Graph& graph) {
  const auto d = adopted(&theirs, TMETER_SIZE_1_0(tmeter_distribution), "its tmeter_distribution");
  const auto what = "distribution '" + printable(view(d.id)) + "'";
  require_unreserved(std::span(&d.of, 1), "a tmeter_target");
  require_target(graph, d.of, what);
  if (d.id.len == 0 || d.bin_count == 0) throw Error(ErrorKind::kPlugin, what + " is empty");
  const auto counts = items_of(d.counts, d.bin_count, said::kNumbers, "bins of a distribution");
  const auto edges = items_of(d.edges, d.bin_count + 1, said::kNumbers, "edges of a distribution");
  require_rising(edges, what);
  return {.id = title_of(d.id),
          .title = title_of(d.title),
          .unit = title_of(d.unit),
          .plugin = std::string(plugin),
          .of = d.of,
          .edges = {edges.begin(), edges.end()},
          .counts = {counts.begin(), counts.end()}};
}

Series make_series(const tmeter_series& theirs, std::string_view plugin, const Graph& graph) {
  const auto s = adopted(&theirs, TMETER_SIZE_1_0(tmeter_series), "its tmeter_series");
  const auto what = "series '" + printable(view(s.id)) + "'";
  require_unreserved(std::span(&s.of, 1), "a tmeter_target");
  require_target(graph, s.of, what);
  if (s.id.len == 0 || s.point_count == 0) throw Error(ErrorKind::kPlugin, what + " is empty");
  const auto x = items_of(s.x, s.point_count, said::kNumbers, "points of a series");
  const auto y = items_of(s.y, s.point_count, said::kNumbers, "points of a series");
  require_rising(x, what);
  if (!std::all_of(y.begin(), y.end(), [](double v) { return std::isfinite(v); }))
    throw Error(ErrorKind::kPlugin, what + " has a point that is not finite");
  return {.id = title_of(s.id),
          .title = title_of(s.title),
          .x_title = title_of(s.x_title),
          .x_unit = title_of(s.x_unit),
          .y_title = title_of(s.y_title),
          .y_unit = title_of(s.y_unit),
          .plugin = std::string(plugin),
          .of = s.of,
          .x = {x.begin(), x.end()},
          .y = {y.begin(), y.end()}};
}

}  // namespace tmeter::core
