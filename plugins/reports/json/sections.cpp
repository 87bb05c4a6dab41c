#include "sections.hpp"

#include <charconv>
#include <cstdint>
#include <limits>

#include <tmeter/cpp/vocabulary.hpp>

namespace json_report {
namespace {

Json target(const tmeter::Graph& graph, const tmeter_target& t) {
  switch (t.axis) {
    case TMETER_AXIS_NODE:
      return {{"node", t.index}};
    case TMETER_AXIS_MODULE:
      return {{"module", graph.modules()[t.index].path()}};
    case TMETER_AXIS_MODULE_CALL:
      return {{"module", graph.module_calls()[t.index].module().path()}, {"module_call", t.index}};
    case TMETER_AXIS_TENSOR:
      return {{"tensor", graph.tensors()[t.index].name()}};
    default:
      return Json::object();
  }
}

// A property that is a number in text; null when it is absent or is none.
template <class T>
Json parsed(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? Json(value) : Json(nullptr);
}

// Null when the sizes are those of the file.
Json sizes(const tmeter::Graph& graph) {
  const auto how = graph.property("sizes");
  if (how.empty()) return nullptr;
  return {{"text", how},
          {"literals_replaced", parsed<int64_t>(graph.property("literals.replaced"))},
          {"literals_kept", parsed<int64_t>(graph.property("literals.kept"))}};
}

// "coverage" and "unknown" are no metrics; when they are not known, nothing of them is.
std::optional<std::string_view> status_of(const tmeter::AssertionView& a,
                                          const tmeter::Report& report) {
  if (a.of_metric()) return reports::status_of(a.value(), report.metrics()[a.metric()]);
  return a.value().is_unavailable() ? std::optional<std::string_view>("unavailable") : std::nullopt;
}

}  // namespace

Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }

Json tool(const tmeter::Report& report) {
  return {{"name", "tmeter"}, {"version", report.property("tool.version")}};
}

Json model(const tmeter::Report& report) {
  const auto graph = report.graph();
  const auto root = graph.root();
  const auto name = graph.property("name");
  return {{"name", text_or_null(name.empty() && root ? root.type() : name)},
          {"file", text_or_null(report.property("model.file"))},
          {"format", text_or_null(graph.property("format"))},
          {"producer", text_or_null(graph.property("producer"))},
          {"part", text_or_null(graph.property("part"))},
          {"size", parsed<int64_t>(report.property("model.size"))},
          {"sizes", sizes(graph)}};
}

void symbols(Stream& stream, const tmeter::Report& report) {
  stream.list_lines("symbols", report.graph().symbols(), [](const tmeter_symbol_info& s) -> Json {
    const bool bounded = s.max != std::numeric_limits<int64_t>::max();
    return {{"name", tmeter::to_view(s.name)},
            {"value", s.value},
            {"min", s.min},
            {"max", bounded ? Json(s.max) : Json(nullptr)},
            {"place", text_or_null(tmeter::to_view(s.place))}};
  });
}

void metrics(Stream& stream, const tmeter::Report& report) {
  stream.list_lines("metrics", report.metrics(), [](const tmeter::Metric& m) {
    Json entry{{"id", m.id()},
               {"title", m.title()},
               {"unit", m.unit()},
               {"unit_kind", tmeter::vocabulary::kUnitKinds.word(m.unit_kind())},
               {"axis", tmeter::vocabulary::kAxes.word(m.axis())},
               {"aggregation", tmeter::vocabulary::kAggregations.word(m.aggregation())},
               {"better", tmeter::vocabulary::kBetter.word(m.better())},
               {"detail", m.detail()},
               {"of_tensors", m.of_tensors()},
               {"convention", m.convention()}};
    if (!m.description().empty()) entry.emplace("description", m.description());
    entry.emplace("provenance", Json{{"kind", tmeter::vocabulary::kProvenances.word(m.provenance())},
                                     {"text", m.provenance_text()}});
    entry.emplace("plugin", m.plugin());
    return entry;
  });
}

Json totals(const tmeter::Report& report) {
  Json object = Json::object();
  for (const auto& m : report.metrics()) object.emplace(m.id(), number(report.total(m)));
  return object;
}

Json totals_status(const tmeter::Report& report) {
  Json object = Json::object();
  for (const auto& m : report.metrics())
    if (const auto status = reports::status_of(report.total(m), m)) object.emplace(m.id(), *status);
  return object;
}

Json coverage(const tmeter::Report& report) {
  const auto c = report.coverage();
  if (tmeter::to_view(c.metric).empty()) return nullptr;
  Json unknown = Json::array();
  for (const auto& op : report.unknown_ops())
    unknown.push_back({{"op", op.op}, {"count", op.nodes}});
  const uint64_t known = c.counted + c.zero_by_rule, all = known + c.unknown;
  return {
      {"metric", tmeter::to_view(c.metric)},
      {"counted", c.counted},
      {"zero_by_rule", c.zero_by_rule},
      {"unknown", c.unknown},
      {"unknown_ops", std::move(unknown)},
      {"ratio", all ? Json(static_cast<double>(known) / static_cast<double>(all)) : Json(nullptr)}};
}

void totals_infinite(Stream& stream, const tmeter::Report& report) {
  Json signs;
  for (const auto& m : report.metrics())
    if (const auto sign = infinite_sign(report.total(m)); !sign.empty())
      signs.emplace(m.id(), sign);
  if (!signs.is_null()) stream.section("totals_infinite", signs);
}

void assertions(Stream& stream, const tmeter::Report& report) {
  const auto list = report.assertions();
  if (list.size() == 0) return;
  stream.list_lines("assertions", list, [&](const auto& a) {
    Json entry{{"expression", a.expression()}, {"subject", a.subject()},
               {"comparison", a.comparison()}, {"value", number(a.value())},
               {"limit", number(a.limit())},   {"holds", a.holds()}};
    if (const auto status = status_of(a, report)) entry.emplace("status", *status);
    return entry;
  });
}

void findings(Stream& stream, const tmeter::Report& report) {
  const auto graph = report.graph();
  stream.list_lines("findings", report.findings(), [&](const auto& f) -> Json {
    Json targets = Json::array(), changes = Json::array();
    for (const auto& t : f.targets()) targets.push_back(target(graph, t));
    for (const auto& c : f.changes())
      changes.push_back({{"metric", tmeter::to_view(c.metric)}, {"from", c.from}, {"to", c.to}});
    return {{"rule", f.rule()},
            {"severity", tmeter::vocabulary::kSeverities.word(f.severity())},
            {"text", f.text()},
            {"evidence", f.evidence()},
            {"action", f.action()},
            {"targets", std::move(targets)},
            {"changes", std::move(changes)},
            {"plugin", f.plugin()}};
  });
}

void series(Stream& stream, const tmeter::Report& report) {
  const auto graph = report.graph();
  stream.list_lines("series", report.series(), [&](const tmeter_series& s) -> Json {
    Json points = Json::array();
    for (size_t i = 0; i < s.point_count; ++i) points.push_back({s.x[i], s.y[i]});
    return {{"id", tmeter::to_view(s.id)},
            {"title", tmeter::to_view(s.title)},
            {"x", {{"title", tmeter::to_view(s.x_title)}, {"unit", tmeter::to_view(s.x_unit)}}},
            {"y", {{"title", tmeter::to_view(s.y_title)}, {"unit", tmeter::to_view(s.y_unit)}}},
            {"of", target(graph, s.of)},
            {"points", std::move(points)}};
  });
}

void distributions(Stream& stream, const tmeter::Report& report) {
  const auto graph = report.graph();
  stream.list_lines("distributions", report.distributions(),
                    [&](const tmeter_distribution& d) -> Json {
                      return {{"id", tmeter::to_view(d.id)},
                              {"title", tmeter::to_view(d.title)},
                              {"unit", tmeter::to_view(d.unit)},
                              {"of", target(graph, d.of)},
                              {"edges", std::vector<double>(d.edges, d.edges + d.bin_count + 1)},
                              {"counts", std::vector<uint64_t>(d.counts, d.counts + d.bin_count)}};
                    });
}

Json config(const tmeter::Report& report) {
  Json object = Json::object();
  for (const auto& [key, value] : report.config()) object[std::string(key)] = value;
  return object;
}

void warnings(Stream& stream, const tmeter::Report& report) {
  stream.list_lines("warnings", report.warnings(), [](const auto& text) { return Json(text); });
}

void plugins(Stream& stream, const tmeter::Report& report) {
  stream.list_lines("plugins", report.plugins(), [](const auto& plugin) -> Json {
    return {{"id", plugin.first}, {"version", plugin.second}};
  });
}

void run(Stream& stream, const tmeter::Report& report) {
  const auto facts = report.run_facts();
  if (facts.empty()) return;
  Json object = Json::object();
  for (const auto& [key, text] : facts) object.emplace(std::string(key), std::string(text));
  stream.section("run", object);
}

Json timing(const tmeter::Report& report) {
  return {{"analysis_seconds", parsed<double>(report.property("analysis.seconds"))}};
}

}  // namespace json_report
