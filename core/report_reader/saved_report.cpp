#include "core/report_reader/saved_report.hpp"

#include <tmeter/abi/base.h>

#include <array>
#include <charconv>
#include <tmeter/cpp/text_hash.hpp>
#include <tmeter/cpp/vocabulary.hpp>
#include <unordered_map>

#include "core/analysis/size_notes.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/report/report.hpp"
#include "core/report_reader/document.hpp"
#include "core/report_reader/graph_rows.hpp"
#include "core/report_reader/metric_values.hpp"

namespace tmeter::core::report_reader {
namespace {

/// Rows by their names in reports.
class Places {
 public:
  explicit Places(const Graph& graph) : graph_(graph) {
    for (const auto* m : graph.modules()) modules_.try_emplace(m->path, m->index);
    for (const auto& t : graph.tensors()) tensors_.try_emplace(t.name, t.index);
  }

  size_t module(std::string_view path) const { return find(modules_, path, "module"); }

  tmeter_target target(const Item& item) const {
    const auto m = item.members();
    if (const auto node = m.find("node"))
      return {TMETER_AXIS_NODE, 0, node->index(graph_.nodes().size())};
    if (const auto call = m.find("module_call"))
      return {TMETER_AXIS_MODULE_CALL, 0, call->index(graph_.calls().size())};
    if (const auto path = m.find("module")) return {TMETER_AXIS_MODULE, 0, module(path->text())};
    if (const auto name = m.find("tensor"))
      return {TMETER_AXIS_TENSOR, 0, find(tensors_, name->text(), "tensor")};
    return {TMETER_AXIS_MODEL, 0, 0};
  }

 private:
  using Index = std::unordered_map<std::string_view, size_t, TextHash>;
  static size_t find(const Index& index, std::string_view name, const char* what) {
    const auto it = index.find(name);
    if (it == index.end())
      refuse(std::string("there is no ") + what + " '" + printable(name) + "'");
    return it->second;
  }
  const Graph& graph_;
  Index modules_, tensors_;
};

Finding finding(const Members& m, const Places& places) {
  Finding f;
  f.severity = vocabulary::kSeverities.number(m.at("severity").text());
  f.rule = m.at("rule").text();
  f.text = m.at("text").text();
  f.evidence = m.text("evidence");
  f.action = m.text("action");
  f.plugin = m.text("plugin");
  for (const auto t : m.at("targets").list())
    f.targets.push_back(places.target(Item(t, "targets")));
  const auto changes = m.at("changes").list();
  f.change_metrics.reserve(changes.size());  // `changes` points into it
  for (const auto c : changes) {
    const auto change = Item(c, "changes").members();
    const auto& metric = f.change_metrics.emplace_back(change.at("metric").text());
    f.changes.push_back(
        {{metric.data(), metric.size()}, change.at("from").real(), change.at("to").real()});
  }
  return f;
}

Distribution distribution(const Members& m, const Places& places) {
  Distribution d;
  d.id = m.at("id").text();
  d.title = m.at("title").text();
  d.unit = m.text("unit");
  d.of = places.target(m.at("of"));
  for (const auto e : m.at("edges").list()) {
    const double edge = Item(e, "edges").real();
    if (!d.edges.empty() && !(edge > d.edges.back())) refuse("'edges' must rise");
    d.edges.push_back(edge);
  }
  for (const auto c : m.at("counts").list()) d.counts.push_back(Item(c, "counts").natural());
  if (d.counts.empty() || d.edges.size() != d.counts.size() + 1)
    refuse("'edges' must have one item more than 'counts'");
  return d;
}

Series series(const Members& m, const Places& places) {
  Series s;
  s.id = m.at("id").text();
  s.title = m.at("title").text();
  const auto x = m.at("x").members(), y = m.at("y").members();
  s.x_title = x.text("title");
  s.x_unit = x.text("unit");
  s.y_title = y.text("title");
  s.y_unit = y.text("unit");
  s.of = places.target(m.at("of"));
  for (const auto p : m.at("points").list()) {
    std::vector<double> point;
    for (const auto v : Item(p, "points").list()) point.push_back(Item(v, "points").real());
    if (point.size() != 2) refuse("a point must be two numbers");
    s.x.push_back(point[0]);
    s.y.push_back(point[1]);
  }
  if (s.x.empty()) refuse("'points' is empty");
  return s;
}

AssertionResult assertion(const Members& m, const MetricValues& values, const Places& places) {
  AssertionResult out;
  try {
    out.assertion = parse_assertion(std::string(m.at("expression").text()));
  } catch (const Error& e) {
    refuse(e.what());  // not a mistake of the user
  }
  out.subject = m.at("subject").text();
  out.value = value_of(m.at("value"));
  const auto status = m.text("status");
  // Without a status (older reports) null means an unknown value.
  mark(out.value, out.value.kind == TMETER_NUMBER_NONE && status.empty() ? "unknown" : status);
  out.holds = m.at("holds").boolean();
  if (!is_of_operators(out.assertion)) {
    out.metric = values.column(out.assertion.metric);
    out.module = places.module(out.assertion.module);
  }
  return out;
}

/// "0.005012" as std::to_string writes it, if the number has no further digits.
std::string seconds_text(double seconds) {
  auto text = std::to_string(seconds);
  double back = 0;
  std::from_chars(text.data(), text.data() + text.size(), back);
  if (back == seconds) return text;
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), seconds).ptr;
  return {buffer.data(), end};
}

void properties(Document& document, Report& report) {
  auto& p = report.properties;
  const auto set = [&](const char* key, std::string_view text) {
    if (!text.empty()) p[key] = text;
  };
  set("tool.version", document.whole("tool").members().at("version").text());
  {
    const auto model = document.whole("model").members();
    set("model.file", model.text("file"));
    if (const auto size = model.find("size")) set("model.size", std::to_string(size->integer()));
  }
  for (const char* key : {"hardware", "command"})
    if (document.has(key)) set(key, document.whole(key).text());
  if (document.has("run")) {
    for (const auto field : document.whole("run").members().object())
      report.add_run_property(std::string(field.key), Item(field.value, field.key).text());
  }
  set("sizes", recomputed_shapes_note(*report.graph));
  if (!document.has("timing")) return;
  if (const auto t = document.whole("timing").members().find("analysis_seconds"))
    set("analysis.seconds", seconds_text(t->real()));
}

/// Findings, assertions, histograms, curves, and the origin of the report. The graph and the
/// values must have been read before.
void read_findings(Document& document, const MetricValues& values, Report& report) {
  const Places places(*report.graph);
  auto& results = report.results;
  properties(document, report);
  document.rows("assertions", [&](size_t, const Item& row) {
    report.assertions.push_back(assertion(row.members(), values, places));
  });
  document.rows("findings", [&](size_t, const Item& row) {
    results.findings.push_back(finding(row.members(), places));
  });
  document.rows("series", [&](size_t, const Item& row) {
    results.series.push_back(series(row.members(), places));
  });
  document.rows("distributions", [&](size_t, const Item& row) {
    results.distributions.push_back(distribution(row.members(), places));
  });
  if (document.has("config"))
    for (const auto field : document.whole("config").members().object())
      report.config.emplace_back(field.key, Item(field.value, field.key).text());
  document.rows("warnings",
                [&](size_t, const Item& row) { report.warnings.emplace_back(row.text()); });
  document.rows("plugins", [&](size_t, const Item& row) {
    const auto m = row.members();
    report.plugins.emplace_back(m.at("id").text(), m.at("version").text());
  });
}

}  // namespace
}  // namespace tmeter::core::report_reader

namespace tmeter::core {

SavedReport read_report(std::string_view json) {
  report_reader::Document document(json);
  SavedReport out;
  report_reader::MetricValues values(document, out.report.results);
  report_reader::GraphRows rows(document, values);
  out.graph = rows.read();
  out.report.graph = out.graph.get();
  out.report.set_module_descriptions(rows.take_descriptions());
  values.totals(document);
  values.coverage(document);
  values.formulas(document, *out.graph, out.report.formulas);
  values.sweep(document, *out.graph, out.report.sweep);
  report_reader::read_findings(document, values, out.report);
  return out;
}

bool is_saved_report(std::string_view bytes) { return report_reader::begins_with_schema(bytes); }

}  // namespace tmeter::core
