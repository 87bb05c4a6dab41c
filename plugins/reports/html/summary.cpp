#include <limits>

#include "page.hpp"
#include "words.hpp"

namespace html_report {
namespace {

using tmeter::Report;
using tmeter::to_view;

void write_model(Json& json, const Report& report) {
  const auto graph = report.graph();
  const auto name = graph.property("name");
  json.key("model").open('{');
  json.key("name").text(name.empty() && graph.root() ? graph.root().type() : name);
  for (const char* key : {"format", "producer", "part"}) json.key(key).text(graph.property(key));
  json.key("file").text(report.property("model.file"));
  json.key("size").text(report.property("model.size"));
  json.close('}');
  json.key("counts").open('{');
  json.key("modules").natural(graph.modules().size());
  json.key("operators").natural(graph.nodes().size());
  json.key("tensors").natural(graph.tensors().size());
  json.key("distributions").natural(report.distributions().size());
  json.key("series").natural(report.series().size());
  json.close('}');
}

void write_run(Json& json, const Report& report) {
  json.key("run").open('{');
  json.key("version").text(report.property("tool.version"));
  json.key("seconds").text(report.property("analysis.seconds"));
  json.key("hardware").text(report.property("hardware"));
  json.key("command").text(report.property("command"));
  json.key("config").open('[');
  for (const auto& [key, value] : report.config()) json.open('[').text(key).text(value).close(']');
  json.close(']').key("plugins").open('[');
  for (const auto& [id, version] : report.plugins())
    json.open('[').text(id).text(version).close(']');
  json.close(']').close('}');
}

void write_inputs(Json& json, const tmeter::Graph& graph) {
  const auto inputs = graph.inputs();
  json.key("inputs").open('[');
  for (size_t i = 0; i < inputs.size(); ++i)
    json.open('{')
        .key("name")
        .text(graph.input_name(i))
        .key("origin")
        .text(graph.input_origin(i))
        .key("text")
        .text(words(inputs[i]))
        .close('}');
  json.close(']').key("outputs").open('[');
  for (const auto& value : graph.outputs()) json.text(words(value));
  json.close(']');
}

void write_symbols(Json& json, const tmeter::Graph& graph) {
  json.key("symbols").open('[');
  for (const auto& s : graph.symbols()) {
    exact(json.open('{').key("name").text(to_view(s.name)).key("value"), s.value);
    exact(json.key("min"), s.min).key("max");
    if (s.max == std::numeric_limits<int64_t>::max())
      json.null();
    else
      exact(json, s.max);
    json.key("place").text(to_view(s.place)).close('}');
  }
  json.close(']');
}

void write_metrics(Json& json, const Report& report) {
  json.key("metrics").open('[');
  for (const auto& m : report.metrics()) {
    json.open('{').key("id").text(m.id()).key("title").text(m.title()).key("unit").text(m.unit());
    json.key("unit_kind").integer(m.unit_kind()).key("axis").integer(m.axis());
    json.key("aggregation").integer(m.aggregation()).key("better").integer(m.better());
    json.key("detail").boolean(m.detail()).key("of_tensors").boolean(m.of_tensors());
    if (m.is_part() || m.is_capacity()) json.key("bar").text(m.is_part() ? "part" : "capacity");
    json.key("provenance").integer(m.provenance());
    json.key("provenance_text").text(m.provenance_text());
    json.key("convention").text(m.convention()).key("description").text(m.description());
    cell(json.key("plugin").text(m.plugin()).key("total"), report.total(m)).close('}');
  }
  json.close(']');
}

void write_coverage(Json& json, const Report& report) {
  const auto c = report.coverage();
  json.key("coverage");
  if (to_view(c.metric).empty()) {
    json.null();
    return;
  }
  json.open('{').key("metric").text(to_view(c.metric)).key("counted").natural(c.counted);
  json.key("zero_by_rule").natural(c.zero_by_rule).key("unknown").natural(c.unknown);
  json.key("unknown_operators").open('[');
  for (const auto& op : report.unknown_ops())
    json.open('[').text(op.op).natural(op.nodes).close(']');
  json.close(']').close('}');
}

void write_number(Json& json, double value) { cell(json, tmeter::Cell(value)); }

void write_findings(Json& json, const Report& report) {
  json.key("findings").open('[');
  for (const auto& f : report.findings()) {
    json.open('{').key("severity").integer(f.severity()).key("rule").text(f.rule());
    json.key("text").text(f.text()).key("evidence").text(f.evidence());
    json.key("action").text(f.action()).key("plugin").text(f.plugin());
    json.key("targets").open('[');
    for (const auto& t : f.targets()) json.open('[').integer(t.axis).natural(t.index).close(']');
    json.close(']').key("changes").open('[');
    for (const auto& c : f.changes()) {
      json.open('[').text(to_view(c.metric));
      write_number(json, c.from);
      write_number(json, c.to);
      json.close(']');
    }
    json.close(']').close('}');
  }
  json.close(']');
}

void write_formulas(Json& json, const Report& report) {
  json.key("formulas").open('[');
  for (const auto& f : report.formulas()) {
    json.open('{').key("metric").natural(f.metric).key("module").natural(f.module);
    json.key("text").text(to_view(f.text));
    json.key("partial").boolean((f.flags & TMETER_FORMULA_PARTIAL) != 0).close('}');
  }
  json.close(']');
}

void write_sweep(Json& json, const Report& report) {
  const auto sweep = report.sweep();
  json.key("sweep");
  if (sweep.symbols.len == 0) {
    json.null();
    return;
  }
  json.open('{').key("symbols").open('[');
  for (size_t i = 0; i < sweep.symbols.len; ++i) json.integer(sweep.symbols.ptr[i]);
  json.close(']').key("points").open('[');
  for (size_t p = 0; p < sweep.point_count; ++p) {
    const auto point = report.sweep_point(p);
    json.open('[');
    for (size_t i = 0; i < point.len; ++i) exact(json, point.ptr[i]);
    json.close(']');
  }
  json.close(']').key("totals").open('[');
  for (const auto& m : report.metrics()) {
    json.open('[');
    for (size_t p = 0; p < sweep.point_count; ++p) cell(json, report.sweep_total(p, m));
    json.close(']');
  }
  json.close(']').close('}');
}

}  // namespace

void write_summary(Json& json, const Report& report) {
  const auto graph = report.graph();
  json.open('{');
  write_model(json, report);
  write_run(json, report);
  write_inputs(json, graph);
  write_symbols(json, graph);
  write_metrics(json, report);
  write_coverage(json, report);
  json.key("warnings").open('[');
  for (const auto& text : report.warnings()) json.text(text);
  json.close(']');
  write_findings(json, report);
  write_formulas(json, report);
  write_sweep(json, report);
  json.key("lower_bounds");
  write_lower_bounds(json, report);
  json.key("assumed");
  write_assumed(json, report);
  json.close('}');
}

}  // namespace html_report
