#include <algorithm>
#include <unordered_map>

#include "block.hpp"
#include "page.hpp"
#include "words.hpp"

namespace html_report {
namespace {

using tmeter::Module;
using tmeter::Node;
using tmeter::Report;
using tmeter::Tensor;

int64_t index_of(const Module& m) { return m ? static_cast<int64_t>(m.index()) : -1; }

/// [[module, window, times]…]: where a run of identical siblings begins.
void write_repeats(Json& json, const Report& report) {
  json.key("repeats").open('[');
  for (const auto& m : report.graph().modules())
    if (const auto run = report.repeat(m))
      json.open('[').natural(m.index()).natural(run.window).natural(run.times).close(']');
  json.close(']');
}

/// Calls `visit` for each operator and tensor of an argument, including items of lists.
template <class Visit>
void visit_values(const tmeter::Value& value, Visit&& visit) {
  if (!value.is_list()) return visit(value);
  for (size_t i = 0; i < value.size(); ++i) visit_values(value[i], visit);
}

/// For each operator, the distances in operators to the producers of its inputs: small numbers that
/// repeat.
void write_producers(Json& json, const tmeter::Graph& graph) {
  json.key("back").open('[');
  for (const auto& node : graph.nodes()) {
    json.open('[');
    for (size_t i = 0; i < node.arg_count(); ++i)
      visit_values(node.arg(i), [&](const tmeter::Value& v) {
        if (const auto producer = v.producer()) json.natural(node.index() - producer.index());
      });
    json.close(']');
  }
  json.close(']');
}

/// For each operator, the model's inputs that it reads; for each of the model's outputs, the
/// operators made it.
void write_ends(Json& json, const tmeter::Graph& graph) {
  std::unordered_map<const tmeter_value*, size_t> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i)
    visit_values(graph.inputs()[i], [&](const tmeter::Value& v) { inputs.emplace(v.handle(), i); });
  json.key("inputs").open('[');
  for (const auto& node : graph.nodes()) {
    json.open('[');
    for (size_t i = 0; i < node.arg_count(); ++i)
      visit_values(node.arg(i), [&](const tmeter::Value& v) {
        if (const auto found = inputs.find(v.handle()); found != inputs.end())
          json.natural(found->second);
      });
    json.close(']');
  }
  json.close(']').key("outputs").open('[');
  for (const auto& output : graph.outputs()) {
    json.open('[');
    visit_values(output, [&](const tmeter::Value& v) {
      if (const auto producer = v.producer()) json.natural(producer.index());
    });
    json.close(']');
  }
  json.close(']');
}

void write_tensors_read(Json& json, const tmeter::Graph& graph) {
  json.key("tensors").open('[');
  for (const auto& node : graph.nodes()) {
    json.open('[');
    for (size_t i = 0; i < node.arg_count(); ++i)
      visit_values(node.arg(i), [&](const tmeter::Value& v) {
        if (const auto tensor = v.tensor()) json.natural(tensor.index());
      });
    json.close(']');
  }
  json.close(']');
}

/// Module calls: their module, and the enclosing call; -1 for none.
void write_calls(Json& json, const tmeter::Graph& graph) {
  const auto calls = graph.module_calls();
  json.key("calls").open('{');
  write_numbers(json, "module", calls,
                [](const tmeter::ModuleCall& c) { return index_of(c.module()); });
  write_numbers(json, "parent", calls, [](const tmeter::ModuleCall& c) {
    return c.parent() ? static_cast<int64_t>(c.parent().index()) : int64_t{-1};
  });
  json.close('}');
}

/// [[call, metric, cell]…]: values that plugins give for module calls as a whole.
void write_values_by_module(Json& json, const Report& report) {
  json.key("answers").open('[');
  const auto metrics = report.metrics();
  for (size_t call = 0; call < report.graph().module_calls().size(); ++call)
    for (const auto& m : metrics) {
      const auto cell = report.cell(m, TMETER_AXIS_MODULE_CALL, call);
      if (m.axis() != TMETER_AXIS_NODE || !cell.by_module()) continue;
      html_report::cell(json.open('[').natural(call).natural(m.index()), cell).close(']');
    }
  json.close(']');
}

size_t row_count(const tmeter::Graph& graph, int32_t axis) {
  switch (axis) {
    case TMETER_AXIS_NODE:
      return graph.nodes().size();
    case TMETER_AXIS_MODULE:
      return graph.modules().size();
    case TMETER_AXIS_TENSOR:
      return graph.tensors().size();
    default:
      return 0;
  }
}

/// Whether a metric has any cell on an axis. Most rows lack most metrics.
bool is_column(const Report& report, const tmeter::Metric& metric, int32_t axis, size_t rows) {
  if (metric.axis() == TMETER_AXIS_MODEL) return false;
  for (size_t i = 0; i < rows; ++i)
    if (!report.cell(metric, axis, i).empty()) return true;
  return false;
}

}  // namespace

void write_modules(Json& json, const Report& report) {
  const auto modules = report.graph().modules();
  json.open('{');
  json.key("name").open('[');
  for (const auto& m : modules) json.text(m.name());
  json.close(']');
  write_numbers(json, "parent", modules, [](const Module& m) { return index_of(m.parent()); });
  write_numbers(json, "calls", modules,
                [](const Module& m) { return static_cast<int64_t>(m.calls()); });
  write_texts(json, "type", modules, [](const Module& m) { return m.qualified_type(); });
  write_texts(json, "text", modules, [&](const Module& m) { return report.module_text(m); });
  for (const char* fact : {"input_size", "output_size"})
    write_texts(json, fact, modules, [&](const Module& m) { return report.fact(m, fact); });
  write_repeats(json, report);
  json.close('}');
}

void write_operators(Json& json, const Report& report) {
  const auto graph = report.graph();
  const auto nodes = graph.nodes();
  json.open('{');
  write_texts(json, "op", nodes, [](const Node& n) {
    const auto overload = n.overload();
    return std::string(n.op()) + (overload.empty() ? "" : "." + std::string(overload));
  });
  write_numbers(json, "module", nodes, [](const Node& n) {
    return n.call() ? index_of(n.call().module()) : int64_t{0};  // outside of all calls: the root
  });
  write_numbers(json, "call", nodes, [](const Node& n) {
    return n.call() ? static_cast<int64_t>(n.call().index()) : int64_t{-1};
  });
  write_calls(json, graph);
  write_values_by_module(json, report);
  write_texts(json, "location", nodes, [](const Node& n) { return n.location(); });
  write_texts(json, "arguments", nodes, [](const Node& n) { return arguments(n); });
  write_texts(json, "results", nodes, [](const Node& n) { return results(n); });
  write_producers(json, graph);
  write_ends(json, graph);
  write_tensors_read(json, graph);
  json.close('}');
}

void write_tensors(Json& json, const Report& report) {
  const auto tensors = report.graph().tensors();
  json.open('{');
  json.key("name").open('[');
  for (const auto& t : tensors) json.text(t.name());
  json.close(']');
  write_numbers(json, "owner", tensors, [](const Tensor& t) { return index_of(t.owner()); });
  write_numbers(json, "kind", tensors, [](const Tensor& t) { return int64_t{t.kind()}; });
  write_numbers(json, "trainable", tensors, [](const Tensor& t) { return t.trainable() ? 1 : 0; });
  write_numbers(json, "tied_to", tensors, [](const Tensor& t) {
    return t.is_tied() ? static_cast<int64_t>(t.canonical().index()) : -1;
  });
  write_numbers(json, "numel", tensors, [](const Tensor& t) { return t.numel().value(); });
  write_texts(json, "type", tensors, [](const Tensor& t) { return words(t); });
  json.close('}');
}

void write_values(Json& json, const Report& report, int32_t axis) {
  const size_t rows = row_count(report.graph(), axis);
  json.open('[');
  for (const auto& metric : report.metrics()) {
    if (!is_column(report, metric, axis, rows)) continue;
    json.open('{').key("metric").natural(metric.index()).key("cells").open('[');
    for (size_t i = 0; i < rows; ++i) cell(json, report.cell(metric, axis, i));
    json.close(']').close('}');
  }
  json.close(']');
}

namespace {

/// [metric, module, …] of totals for which `is_flagged` is true; module 0: the model's total.
template <class IsFlagged>
void write_flagged_totals(Json& json, const Report& report, IsFlagged is_flagged) {
  json.open('[');
  const auto modules = report.graph().modules();
  for (const auto& metric : report.metrics()) {
    if (!is_flagged(report.total(metric))) continue;
    json.open('[').natural(metric.index());
    json.natural(0);  // the model
    for (size_t i = 1; i < modules.size(); ++i)
      if (is_flagged(report.cell(metric, modules[i]))) json.natural(i);
    json.close(']');
  }
  json.close(']');
}

}  // namespace

void write_lower_bounds(Json& json, const Report& report) {
  write_flagged_totals(json, report, [](const tmeter::Cell& c) { return c.partial(); });
}

void write_assumed(Json& json, const Report& report) {
  write_flagged_totals(json, report, [](const tmeter::Cell& c) { return c.assumed(); });
}

namespace {

void write_target(Json& json, const tmeter_target& of) {
  json.key("of").open('[').integer(of.axis).natural(of.index).close(']');
}

void write_reals(Json& json, std::string_view key, const double* values, size_t n) {
  json.key(key).open('[');
  for (size_t i = 0; i < n; ++i) json.shortest(values[i]);
  json.close(']');
}

void write_distribution(Json& json, const tmeter_distribution& d) {
  json.open('{');
  json.key("id").text(tmeter::to_view(d.id)).key("title").text(tmeter::to_view(d.title));
  json.key("unit").text(tmeter::to_view(d.unit));
  write_target(json, d.of);
  write_reals(json, "edges", d.edges, d.bin_count + 1);
  json.key("counts").open('[');
  for (size_t i = 0; i < d.bin_count; ++i) exact(json, static_cast<int64_t>(d.counts[i]));
  json.close(']').close('}');
}

void write_series(Json& json, const tmeter_series& s) {
  json.open('{');
  json.key("id").text(tmeter::to_view(s.id)).key("title").text(tmeter::to_view(s.title));
  json.key("x_title")
      .text(tmeter::to_view(s.x_title))
      .key("x_unit")
      .text(tmeter::to_view(s.x_unit));
  json.key("y_title")
      .text(tmeter::to_view(s.y_title))
      .key("y_unit")
      .text(tmeter::to_view(s.y_unit));
  write_target(json, s.of);
  write_reals(json, "x", s.x, s.point_count);
  write_reals(json, "y", s.y, s.point_count);
  json.close('}');
}

}  // namespace

void write_curves(Json& json, const tmeter::Report& report) {
  json.open('{').key("distributions").open('[');
  for (const auto& d : report.distributions()) write_distribution(json, d);
  json.close(']').key("series").open('[');
  for (const auto& s : report.series()) write_series(json, s);
  json.close(']').close('}');
}

}  // namespace html_report
