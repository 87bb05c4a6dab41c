#include "core/analysis/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/analysis/axes.hpp"
#include "core/base/error.hpp"
#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/adopt.hpp"

namespace tmeter::core {
namespace {

void require_rising(std::span<const double> values, const std::string& what) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && (i == 0 || values[i - 1] < values[i])) continue;
    throw Error(ErrorKind::kPlugin, what + " has edges that do not rise or are not finite");
  }
}

}  // namespace

Distribution make_distribution(const tmeter_distribution& theirs, std::string_view plugin,
                               const Graph& graph) {
  const auto d = adopted(&theirs, TMETER_SIZE_1_0(tmeter_distribution), "its tmeter_distribution");
  const auto what = "distribution '" + str(d.id) + "'";
  require_target(graph, d.of, what);
  if (d.id.len == 0 || d.bin_count == 0) throw Error(ErrorKind::kPlugin, what + " is empty");
  const std::span edges(d.edges, d.bin_count + 1);
  require_rising(edges, what);
  return {.id = str(d.id),
          .title = str(d.title),
          .unit = str(d.unit),
          .plugin = std::string(plugin),
          .of = d.of,
          .edges = {edges.begin(), edges.end()},
          .counts = {d.counts, d.counts + d.bin_count}};
}

Series make_series(const tmeter_series& theirs, std::string_view plugin, const Graph& graph) {
  const auto s = adopted(&theirs, TMETER_SIZE_1_0(tmeter_series), "its tmeter_series");
  const auto what = "series '" + str(s.id) + "'";
  require_target(graph, s.of, what);
  if (s.id.len == 0 || s.point_count == 0) throw Error(ErrorKind::kPlugin, what + " is empty");
  const std::span x(s.x, s.point_count), y(s.y, s.point_count);
  require_rising(x, what);
  if (!std::all_of(y.begin(), y.end(), [](double v) { return std::isfinite(v); }))
    throw Error(ErrorKind::kPlugin, what + " has a point that is not finite");
  return {.id = str(s.id),
          .title = str(s.title),
          .x_title = str(s.x_title),
          .x_unit = str(s.x_unit),
          .y_title = str(s.y_title),
          .y_unit = str(s.y_unit),
          .plugin = std::string(plugin),
          .of = s.of,
          .x = {x.begin(), x.end()},
          .y = {y.begin(), y.end()}};
}

}  // namespace tmeter::core
