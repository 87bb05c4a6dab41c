#include "writer.hpp"

#include <limits>
#include <tmeter/cpp/vocabulary.hpp>

#include "../common/columns.hpp"
#include "../common/describe.hpp"
#include "rows.hpp"

namespace xml_report {
namespace {

using tmeter::Report;
using tmeter::to_view;

/// An element whose attributes name a part of the graph; nothing for the whole model.
void target(Stream& stream, const tmeter::Graph& graph, const tmeter_target& t) {
  switch (t.axis) {
    case TMETER_AXIS_NODE:
      stream.attribute("node", t.index);
      break;
    case TMETER_AXIS_MODULE:
      stream.attribute("module", graph.modules()[t.index].path());
      break;
    case TMETER_AXIS_MODULE_CALL:
      stream.attribute("module", graph.module_calls()[t.index].module().path());
      break;
    case TMETER_AXIS_TENSOR:
      stream.attribute("tensor", graph.tensors()[t.index].name());
      break;
    default:
      break;
  }
}

std::string number(double v) { return reports::plain_number(v); }

std::string numbers(const double* values, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (i ? " " : "") + number(values[i]);
  return text;
}

void value_attribute(Stream& stream, std::string_view name, const tmeter::Cell& cell) {
  if (cell.known()) stream.attribute(name, reports::plain_number(cell));
}

void tool(Stream& stream, const Report& report) {
  stream.element("tool").attribute("name", "tmeter");
  stream.attribute("version", report.property("tool.version"));
}

void model(Stream& stream, const Report& report) {
  const auto graph = report.graph();
  stream.element("model").attribute("name", reports::model_name(report));
  stream.optional("file", report.property("model.file"));
  for (const std::string_view key : {"format", "producer", "part"})
    stream.optional(key, graph.property(key));
  stream.optional("size", report.property("model.size"));
  stream.optional("sizes", report.property("sizes"));
}

/// Writes nothing if the file has none.
void metadata(Stream& stream, const tmeter::Graph& graph) {
  if (graph.metadata().size() == 0) return;
  stream.open("metadata");
  for (const auto& m : graph.metadata()) {
    stream.element("fact").attribute("space", m.space()).attribute("key", m.key());
    stream.attribute("type", tmeter::vocabulary::kMetadataTypes.word(m.type()));
    if (m.is_array()) stream.attribute("length", m.length());
    stream.text(reports::describe(m));
  }
  stream.close();
}

void symbols(Stream& stream, const tmeter::Graph& graph) {
  stream.open("symbols");
  for (const auto& s : graph.symbols()) {
    stream.element("symbol").attribute("name", to_view(s.name)).attribute("value", s.value);
    stream.attribute("min", s.min);
    if (s.max != std::numeric_limits<int64_t>::max()) stream.attribute("max", s.max);
    stream.optional("place", to_view(s.place));
  }
  stream.close();
}

void metrics(Stream& stream, const Report& report) {
  stream.open("metrics");
  for (const auto& m : report.metrics()) {
    stream.open("metric").attribute("id", m.id()).attribute("title", m.title());
    stream.attribute("unit", m.unit());
    stream.attribute("unit-kind", tmeter::vocabulary::kUnitKinds.word(m.unit_kind()));
    stream.attribute("axis", tmeter::vocabulary::kAxes.word(m.axis()));
    stream.attribute("aggregation", tmeter::vocabulary::kAggregations.word(m.aggregation()));
    stream.attribute("better", tmeter::vocabulary::kBetter.word(m.better()));
    stream.attribute("detail", m.detail() ? "true" : "false");
    stream.attribute("plugin", m.plugin());
    stream.element("convention").text(m.convention());
    if (!m.description().empty()) stream.element("description").text(m.description());
    stream.element("provenance")
        .attribute("kind", tmeter::vocabulary::kProvenances.word(m.provenance()));
    if (!m.provenance_text().empty()) stream.text(m.provenance_text());
    stream.close();
  }
  stream.close();
}

void totals(Stream& stream, const Report& report) {
  stream.open("totals");
  for (const auto& m : report.metrics()) write_cell(stream, m, report.total(m));
  stream.close();
}

void formulas(Stream& stream, const Report& report) {
  const auto graph = report.graph();
  const auto all = report.formulas();
  stream.open("formulas");
  for (size_t i = 0; i < all.size(); ++i) {
    const auto f = all[i];
    stream.open("formula").attribute("metric", report.metrics()[f.metric].id());
    stream.attribute("module", graph.modules()[f.module].path());
    stream.attribute("text", to_view(f.text));
    if (f.flags & TMETER_FORMULA_PARTIAL) stream.attribute("status", "lower-bound");
    for (size_t t = 0; t < f.term_count; ++t) {
      const auto term = report.term(i, t);
      stream.open("term").attribute("coefficient", term.numerator);
      if (term.denominator != 1) stream.attribute("denominator", term.denominator);
      for (size_t p = 0; p < term.powers.len; ++p) {
        if (term.powers.ptr[p] <= 0) continue;
        const auto symbol = graph.symbols()[static_cast<size_t>(f.symbols.ptr[p])];
        stream.element("power").attribute("symbol", to_view(symbol.name));
        stream.attribute("exponent", term.powers.ptr[p]);
      }
      stream.close();
    }
    stream.close();
  }
  stream.close();
}

void sweep(Stream& stream, const Report& report) {
  const auto sweep = report.sweep();
  if (sweep.symbols.len == 0) return;
  stream.open("sweep");
  for (size_t p = 0; p < sweep.point_count; ++p) {
    stream.open("point");
    const auto point = report.sweep_point(p);
    for (size_t i = 0; i < point.len; ++i) {
      const auto symbol = report.graph().symbols()[static_cast<size_t>(sweep.symbols.ptr[i])];
      stream.element("size").attribute("symbol", to_view(symbol.name));
      stream.attribute("value", point.ptr[i]);
    }
    for (const auto& m : report.metrics()) write_cell(stream, m, report.sweep_total(p, m));
    stream.close();
  }
  stream.close();
}

void coverage(Stream& stream, const Report& report) {
  const auto c = report.coverage();
  if (to_view(c.metric).empty()) return;
  stream.open("coverage").attribute("metric", to_view(c.metric));
  stream.attribute("counted", size_t{c.counted}).attribute("zero-by-rule", size_t{c.zero_by_rule});
  stream.attribute("unknown", size_t{c.unknown});
  for (const auto& op : report.unknown_ops())
    stream.element("unknown-op").attribute("op", op.op).attribute("count", size_t{op.nodes});
  stream.close();
}

void assertions(Stream& stream, const Report& report) {
  if (report.assertions().size() == 0) return;
  stream.open("assertions");
  for (const auto& a : report.assertions()) {
    stream.element("assertion").attribute("expression", a.expression());
    stream.attribute("subject", a.subject()).attribute("comparison", a.comparison());
    value_attribute(stream, "value", a.value());
    if (a.value().partial() && a.of_metric())
      stream.attribute("status",
                       hyphened(*reports::status_of(a.value(), report.metrics()[a.metric()])));
    value_attribute(stream, "limit", a.limit());
    stream.attribute("holds", a.holds() ? "true" : "false");
  }
  stream.close();
}

void findings(Stream& stream, const Report& report) {
  stream.open("findings");
  for (const auto& f : report.findings()) {
    stream.open("finding").attribute("rule", f.rule());
    stream.attribute("severity", tmeter::vocabulary::kSeverities.word(f.severity()));
    stream.attribute("plugin", f.plugin());
    stream.element("text").text(f.text());
    if (!f.evidence().empty()) stream.element("evidence").text(f.evidence());
    if (!f.action().empty()) stream.element("action").text(f.action());
    for (const auto& t : f.targets()) target(stream.element("target"), report.graph(), t);
    for (const auto& c : f.changes())
      stream.element("change")
          .attribute("metric", to_view(c.metric))
          .attribute("from", number(c.from))
          .attribute("to", number(c.to));
    stream.close();
  }
  stream.close();
}

void series(Stream& stream, const Report& report) {
  stream.open("all-series");
  for (const auto& s : report.series()) {
    stream.open("series").attribute("id", to_view(s.id)).attribute("title", to_view(s.title));
    stream.attribute("x-title", to_view(s.x_title)).optional("x-unit", to_view(s.x_unit));
    stream.attribute("y-title", to_view(s.y_title)).optional("y-unit", to_view(s.y_unit));
    target(stream, report.graph(), s.of);
    stream.element("x").text(numbers(s.x, s.point_count));
    stream.element("y").text(numbers(s.y, s.point_count));
    stream.close();
  }
  stream.close();
}

void distributions(Stream& stream, const Report& report) {
  stream.open("distributions");
  for (const auto& d : report.distributions()) {
    stream.open("distribution").attribute("id", to_view(d.id)).attribute("title", to_view(d.title));
    stream.optional("unit", to_view(d.unit));
    target(stream, report.graph(), d.of);
    stream.element("edges").text(numbers(d.edges, d.bin_count + 1));
    std::string counts;
    for (size_t i = 0; i < d.bin_count; ++i) counts += (i ? " " : "") + std::to_string(d.counts[i]);
    stream.element("counts").text(counts);
    stream.close();
  }
  stream.close();
}

/// How the run was made: options, warnings, plugins, hardware, time.
void run(Stream& stream, const Report& report) {
  stream.open("run");
  stream.optional("hardware", report.property("hardware"));
  if (const auto seconds = reports::analysis_seconds(report))
    stream.attribute("analysis-seconds", number(*seconds));
  for (const auto& [key, value] : report.config())
    stream.element("option").attribute("key", key).attribute("value", value);
  for (const auto& [id, version] : report.plugins())
    stream.element("plugin").attribute("id", id).attribute("version", version);
  for (const auto& [key, value] : report.run_facts())
    stream.element("measured").attribute("key", key).attribute("value", value);
  for (const auto& text : report.warnings()) stream.element("warning").text(text);
  stream.close();
}

}  // namespace

void write(const tmeter::Report& report, tmeter::Output& out) {
  Stream stream(out);
  RowWriter rows(stream, report);
  stream.open("report").attribute("xmlns", "urn:tmeter:report:1");
  tool(stream, report);
  model(stream, report);
  rows.inputs();
  rows.outputs();
  symbols(stream, report.graph());
  metadata(stream, report.graph());
  metrics(stream, report);
  totals(stream, report);
  formulas(stream, report);
  sweep(stream, report);
  coverage(stream, report);
  assertions(stream, report);
  rows.modules();
  rows.nodes();
  rows.tensors();
  findings(stream, report);
  series(stream, report);
  distributions(stream, report);
  run(stream, report);
  stream.close();
  stream.finish();
}

}  // namespace xml_report
