#include "writer.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tmeter/cpp/vocabulary.hpp>

#include "rows.hpp"

namespace json_report {
namespace {

using tmeter::to_view;

void target(Stream& stream, const tmeter::Graph& graph, const tmeter_target& t) {
  stream.open('{');
  switch (t.axis) {
    case TMETER_AXIS_NODE:
      stream.key("node").natural(t.index);
      break;
    case TMETER_AXIS_MODULE:
      stream.key("module").text(graph.modules()[t.index].path());
      break;
    case TMETER_AXIS_MODULE_CALL:
      stream.key("module").text(graph.module_calls()[t.index].module().path());
      stream.key("module_call").natural(t.index);
      break;
    case TMETER_AXIS_TENSOR:
      stream.key("tensor").text(graph.tensors()[t.index].name());
      break;
    default:
      break;
  }
  stream.close('}');
}

/// A property that is a number as text; nothing: absent or not a number.
template <class T>
std::optional<T> parsed(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void count(Stream& stream, std::string_view text) {
  const auto value = parsed<int64_t>(text);
  value ? stream.integer(*value) : stream.null();
}

/// Null: the sizes are those of the file.
void sizes(Stream& stream, const tmeter::Graph& graph) {
  const auto how = graph.property("sizes");
  if (how.empty()) {
    stream.null();
    return;
  }
  stream.open('{').key("text").text(how);
  count(stream.key("literals_replaced"), graph.property("literals.replaced"));
  count(stream.key("literals_kept"), graph.property("literals.kept"));
  stream.close('}');
}

/// "coverage" and "unknown" are not metrics: their only status is "unavailable".
std::optional<std::string_view> status_of(const tmeter::AssertionView& a,
                                          const tmeter::Report& report) {
  if (a.of_metric()) return reports::status_of(a.value(), report.metrics()[a.metric()]);
  return a.value().is_unavailable() ? std::optional<std::string_view>("unavailable") : std::nullopt;
}

std::vector<std::string_view> symbol_names(const tmeter::Graph& graph, const tmeter_i64_span& ids) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < ids.len; ++i)
    names.push_back(to_view(graph.symbols()[static_cast<size_t>(ids.ptr[i])].name));
  return names;
}

void term(Stream& stream, const tmeter_term& t, const std::vector<std::string_view>& names) {
  stream.open('{').key("coefficient").integer(t.numerator);
  if (t.denominator != 1) stream.key("denominator").integer(t.denominator);
  stream.key("powers").open('{');
  for (size_t i = 0; i < t.powers.len; ++i)
    if (t.powers.ptr[i] > 0) stream.key(names[i]).integer(t.powers.ptr[i]);
  stream.close('}').close('}');
}

void axis_of_series(Stream& stream, const tmeter_str& title, const tmeter_str& unit) {
  stream.open('{').key("title").text(to_view(title)).key("unit").text(to_view(unit)).close('}');
}

}  // namespace

void tool(Stream& stream, const tmeter::Report& report) {
  stream.member("tool").open('{').key("name").text("tmeter");
  stream.key("version").text(report.property("tool.version")).close('}');
}

void model_members(Stream& stream, const tmeter::Report& report) {
  const auto graph = report.graph();
  const auto root = graph.root();
  const auto name = graph.property("name");
  stream.key("name").text_or_null(name.empty() && root ? root.type() : name);
  stream.key("file").text_or_null(report.property("model.file"));
  for (const char* key : {"format", "producer", "part"})
    stream.key(std::string_view(key)).text_or_null(graph.property(key));
  count(stream.key("size"), report.property("model.size"));
  sizes(stream.key("sizes"), graph);
}

void model(Stream& stream, const tmeter::Report& report) {
  stream.member("model").open('{');
  model_members(stream, report);
  stream.close('}');
}

void symbols(Stream& stream, const tmeter::Report& report) {
  stream.list_lines("symbols", report.graph().symbols(), [&](const tmeter_symbol_info& s) {
    stream.open('{').key("name").text(to_view(s.name)).key("value").integer(s.value);
    stream.key("min").integer(s.min).key("max");
    s.max == std::numeric_limits<int64_t>::max() ? stream.null() : stream.integer(s.max);
    stream.key("place").text_or_null(to_view(s.place)).close('}');
  });
}

void metadata(Stream& stream, const tmeter::Report& report) {
  const auto all = report.graph().metadata();
  if (all.size() == 0) return;
  stream.list_lines("metadata", all, [&](const tmeter::Metadata& m) {
    stream.open('{').key("space").text(m.space()).key("key").text(m.key());
    stream.key("type").text(tmeter::vocabulary::kMetadataTypes.word(m.type()));
    const auto item = [&](uint32_t i) {
      if (m.type() == TMETER_METADATA_TEXT) return void(stream.text(m.text(i)));
      if (m.type() == TMETER_METADATA_BOOL) return void(stream.boolean(m.as_int(0, i) != 0));
      if (m.type() == TMETER_METADATA_INT) return void(stream.integer(m.as_int(0, i)));
      const auto value = m.as_float(0, i);
      std::isfinite(value) ? stream.real(value)
                           : stream.text(std::isnan(value) ? "nan"
                                         : value < 0       ? "-inf"
                                                           : "inf");
    };
    if (m.is_array()) {
      stream.key("values").open('[');
      for (uint32_t i = 0; i < m.size(); ++i) item(i);
      stream.close(']').key("length").integer(m.length());
    } else {
      stream.key("value");
      item(0);
    }
    stream.close('}');
  });
}

void metrics(Stream& stream, const tmeter::Report& report) {
  namespace words = tmeter::vocabulary;
  stream.list_lines("metrics", report.metrics(), [&](const tmeter::Metric& m) {
    stream.open('{').key("id").text(m.id()).key("title").text(m.title()).key("unit").text(m.unit());
    stream.key("unit_kind").text(words::kUnitKinds.word(m.unit_kind()));
    stream.key("axis").text(words::kAxes.word(m.axis()));
    stream.key("aggregation").text(words::kAggregations.word(m.aggregation()));
    stream.key("better").text(words::kBetter.word(m.better()));
    stream.key("detail").boolean(m.detail()).key("of_tensors").boolean(m.of_tensors());
    if (m.is_part() || m.is_capacity()) stream.key("bar").text(m.is_part() ? "part" : "capacity");
    stream.key("convention").text(m.convention());
    if (!m.description().empty()) stream.key("description").text(m.description());
    stream.key("provenance").open('{');
    stream.key("kind").text(words::kProvenances.word(m.provenance()));
    stream.key("text").text(m.provenance_text()).close('}');
    stream.key("plugin").text(m.plugin()).close('}');
  });
}

void totals(Stream& stream, const tmeter::Report& report) {
  stream.object_lines("totals", report.metrics(),
                      [&](const tmeter::Metric& m) { stream.key(m.id()).number(report.total(m)); });
}

void totals_status(Stream& stream, const tmeter::Report& report) {
  stream.member("totals_status").open('{');
  for (const auto& m : report.metrics())
    if (const auto status = reports::status_of(report.total(m), m))
      stream.key(m.id()).text(*status);
  stream.close('}');
}

void totals_infinite(Stream& stream, const tmeter::Report& report) {
  bool any = false;
  for (const auto& m : report.metrics()) {
    const auto sign = infinite_sign(report.total(m));
    if (sign.empty()) continue;
    if (!any) stream.member("totals_infinite").open('{');
    any = true;
    stream.key(m.id()).text(sign);
  }
  if (any) stream.close('}');
}

void formulas(Stream& stream, const tmeter::Report& report) {
  const auto graph = report.graph();
  const auto metrics = report.metrics();
  const auto all = report.formulas();
  std::vector<size_t> indices(all.size());
  std::iota(indices.begin(), indices.end(), size_t{0});
  stream.list_lines("formulas", indices, [&](size_t i) {
    const auto f = all[i];
    const auto names = symbol_names(graph, f.symbols);
    stream.open('{').key("metric").text(metrics[f.metric].id());
    stream.key("module").text(graph.modules()[f.module].path());
    stream.key("text").text(to_view(f.text));
    if (f.flags & TMETER_FORMULA_PARTIAL) stream.key("partial").boolean(true);
    stream.key("terms").open('[');
    for (size_t t = 0; t < f.term_count; ++t) term(stream, report.term(i, t), names);
    stream.close(']').close('}');
  });
}

void sweep(Stream& stream, const tmeter::Report& report) {
  const auto sweep = report.sweep();
  stream.member("sweep");
  if (sweep.symbols.len == 0) {
    stream.null();
    return;
  }
  stream.open('{').key("symbols").open('[');
  for (const auto name : symbol_names(report.graph(), sweep.symbols)) stream.text(name);
  stream.close(']').key("points").open('[');
  for (size_t p = 0; p < sweep.point_count; ++p) {
    const auto point = report.sweep_point(p);
    stream.open('[');
    for (size_t i = 0; i < point.len; ++i) stream.integer(point.ptr[i]);
    stream.close(']');
  }
  stream.close(']').key("totals").open('{');
  for (const auto& m : report.metrics()) {
    stream.key(m.id()).open('[');
    for (size_t p = 0; p < sweep.point_count; ++p) stream.number(report.sweep_total(p, m));
    stream.close(']');
  }
  stream.close('}').key("totals_status").open('{');
  for (const auto& m : report.metrics()) {
    std::vector<std::optional<std::string_view>> statuses;
    bool any = false;
    for (size_t p = 0; p < sweep.point_count; ++p) {
      statuses.push_back(reports::status_of(report.sweep_total(p, m), m));
      any = any || statuses.back();
    }
    if (!any) continue;
    stream.key(m.id()).open('[');
    for (const auto& status : statuses) status ? stream.text(*status) : stream.null();
    stream.close(']');
  }
  stream.close('}').close('}');
}

void coverage(Stream& stream, const tmeter::Report& report) {
  const auto c = report.coverage();
  stream.member("coverage");
  if (to_view(c.metric).empty()) {
    stream.null();
    return;
  }
  const uint64_t covered = c.counted + c.zero_by_rule, all = covered + c.unknown;
  stream.open('{').key("metric").text(to_view(c.metric)).key("counted").natural(c.counted);
  stream.key("zero_by_rule").natural(c.zero_by_rule).key("unknown").natural(c.unknown);
  stream.key("unknown_ops").open('[');
  for (const auto& op : report.unknown_ops())
    stream.open('{').key("op").text(op.op).key("count").natural(op.nodes).close('}');
  stream.close(']').key("ratio");
  all ? stream.real(static_cast<double>(covered) / static_cast<double>(all)) : stream.null();
  stream.close('}');
}

void assertions(Stream& stream, const tmeter::Report& report) {
  const auto list = report.assertions();
  if (list.size() == 0) return;
  stream.list_lines("assertions", list, [&](const tmeter::AssertionView& a) {
    stream.open('{').key("expression").text(a.expression()).key("subject").text(a.subject());
    stream.key("comparison").text(a.comparison()).key("value").number(a.value());
    stream.key("limit").number(a.limit()).key("holds").boolean(a.holds());
    if (const auto status = status_of(a, report)) stream.key("status").text(*status);
    stream.close('}');
  });
}

void findings(Stream& stream, const tmeter::Report& report) {
  const auto graph = report.graph();
  stream.list_lines("findings", report.findings(), [&](const auto& f) {
    stream.open('{').key("rule").text(f.rule());
    stream.key("severity").text(tmeter::vocabulary::kSeverities.word(f.severity()));
    stream.key("text").text(f.text()).key("evidence").text(f.evidence());
    stream.key("action").text(f.action()).key("targets").open('[');
    for (const auto& t : f.targets()) target(stream, graph, t);
    stream.close(']').key("changes").open('[');
    for (const auto& c : f.changes()) {
      stream.open('{').key("metric").text(to_view(c.metric));
      stream.key("from").real(c.from).key("to").real(c.to).close('}');
    }
    stream.close(']').key("plugin").text(f.plugin()).close('}');
  });
}

void series(Stream& stream, const tmeter::Report& report) {
  const auto graph = report.graph();
  stream.list_lines("series", report.series(), [&](const tmeter_series& s) {
    stream.open('{').key("id").text(to_view(s.id)).key("title").text(to_view(s.title));
    axis_of_series(stream.key("x"), s.x_title, s.x_unit);
    axis_of_series(stream.key("y"), s.y_title, s.y_unit);
    target(stream.key("of"), graph, s.of);
    stream.key("points").open('[');
    for (size_t i = 0; i < s.point_count; ++i)
      stream.open('[').real(s.x[i]).real(s.y[i]).close(']');
    stream.close(']').close('}');
  });
}

void distributions(Stream& stream, const tmeter::Report& report) {
  const auto graph = report.graph();
  stream.list_lines("distributions", report.distributions(), [&](const tmeter_distribution& d) {
    stream.open('{').key("id").text(to_view(d.id)).key("title").text(to_view(d.title));
    stream.key("unit").text(to_view(d.unit));
    target(stream.key("of"), graph, d.of);
    stream.key("edges").open('[');
    for (size_t i = 0; i <= d.bin_count; ++i) stream.real(d.edges[i]);
    stream.close(']').key("counts").open('[');
    for (size_t i = 0; i < d.bin_count; ++i) stream.natural(d.counts[i]);
    stream.close(']').close('}');
  });
}

void config(Stream& stream, const tmeter::Report& report) {
  stream.object_lines("config", report.config(), [&](const auto& option) {
    stream.key(std::string_view(option.first)).text(option.second);
  });
}

void warnings(Stream& stream, const tmeter::Report& report) {
  stream.list_lines("warnings", report.warnings(), [&](const auto& text) { stream.text(text); });
}

void plugins(Stream& stream, const tmeter::Report& report) {
  stream.list_lines("plugins", report.plugins(), [&](const auto& plugin) {
    stream.open('{').key("id").text(plugin.first).key("version").text(plugin.second).close('}');
  });
}

void run(Stream& stream, const tmeter::Report& report) {
  const auto facts = report.run_facts();
  if (facts.empty()) return;
  stream.member("run").open('{');
  for (const auto& [key, text] : facts) stream.key(std::string_view(key)).text(text);
  stream.close('}');
}

void timing(Stream& stream, const tmeter::Report& report) {
  const auto seconds = parsed<double>(report.property("analysis.seconds"));
  stream.member("timing").open('{').key("analysis_seconds");
  seconds ? stream.real(*seconds) : stream.null();
  stream.close('}');
}

void write(const tmeter::Report& report, tmeter::Output& out) {
  Stream stream(out);
  RowWriter rows(stream, report);
  stream.open('{').member("schema").text("tmeter-report/1");
  tool(stream, report);
  model(stream, report);
  rows.inputs();
  rows.outputs();
  symbols(stream, report);
  metadata(stream, report);
  metrics(stream, report);
  totals(stream, report);
  totals_status(stream, report);
  totals_infinite(stream, report);
  formulas(stream, report);
  sweep(stream, report);
  coverage(stream, report);
  rows.modules();
  rows.module_calls();
  rows.nodes();
  rows.tensors();
  assertions(stream, report);
  findings(stream, report);
  series(stream, report);
  distributions(stream, report);
  config(stream, report);
  warnings(stream, report);
  plugins(stream, report);
  stream.member("hardware").text_or_null(report.property("hardware"));
  stream.member("command").text_or_null(report.property("command"));
  run(stream, report);
  timing(stream, report);
  stream.end_line(0).close('}').finish();
}

}  // namespace json_report
