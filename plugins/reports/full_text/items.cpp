// The long sections: modules, parameters, operators, curves – item by item.
#include <tmeter/cpp/module_ids.hpp>
#include <tmeter/cpp/units.hpp>
#include <tmeter/cpp/vocabulary.hpp>

#include "../common/describe.hpp"
#include "document.hpp"
#include "plugins/common/wording.hpp"

namespace full_text_report {
namespace {

using tmeter::to_view;

std::string arguments_of(const tmeter::Node& node) {
  std::string text;
  for (size_t i = 0; i < node.arg_count(); ++i) {
    if (i) text += ", ";
    if (const auto name = node.arg_name(i); !name.empty()) text.append(name) += "=";
    const auto value = node.arg(i);
    text += reports::describe(value);
    if (const auto tensor = value.tensor()) text.append(" ").append(tensor.name());
  }
  return text;
}

std::string results_of(const tmeter::Node& node) {
  std::string text;
  for (size_t i = 0; i < node.result_count(); ++i)
    text += (i ? ", " : "") + reports::describe(node.result(i));
  return text;
}

template <class Item>
std::vector<tmeter::Cell> cells(const Document& d, const Item& item) {
  std::vector<tmeter::Cell> cells;
  for (const auto& m : d.metrics) cells.push_back(d.report.cell(m, item));
  return cells;
}

std::string of(const Document& d, const tmeter_target& target) {
  const auto text = reports::describe_target(d.graph, target);
  return text.empty() ? "the model" : text;
}

}  // namespace

void architecture(Document& d) {
  d.heading("Architecture");
  const auto ids = tmeter::module_ids(d.graph);
  for (const auto& m : d.graph.modules()) {
    std::string head = ids[m.index()] + "  ";
    if (m.index() > 0) head.append(m.path()) += "  ";
    head += d.report.module_text(m);
    if (m.calls() != 1) head += "  called " + std::to_string(m.calls()) + " times";
    if (const auto repeat = d.report.repeat(m))
      head += "  (begins " + std::to_string(repeat.times) + " identical repetitions)";
    d.line(1, head);
    const auto input = d.report.fact(m, "input_size"), output = d.report.fact(m, "output_size");
    if (!input.empty() || !output.empty())
      d.line(2, std::string(input) + " → " + std::string(output));
    std::vector<tmeter::Cell> cells;
    for (const auto& metric : d.metrics) cells.push_back(reports::module_cell(d.report, metric, m));
    if (const auto text = d.values(cells); !text.empty()) d.line(2, text);
    d.advice(TMETER_AXIS_MODULE, m.index());
  }
}

void parameters(Document& d) {
  d.heading("Parameters and buffers");
  for (const auto& t : d.graph.tensors()) {
    std::string text(t.name());
    text += "  " + reports::describe(t) + "  " + tmeter::grouped(t.numel().value()) +
            " elements, " + plugins::bytes_text(t.bytes()) + ", " +
            std::string(tmeter::vocabulary::kTensorKinds.word(t.kind()));
    if (t.is_parameter() && !t.trainable()) text += ", frozen";
    if (t.is_tied()) text += ", tied to " + std::string(t.canonical().name());
    d.line(1, text);
    if (const auto values = d.values(cells(d, t)); !values.empty()) d.line(2, values);
    d.advice(TMETER_AXIS_TENSOR, t.index());
  }
  if (d.graph.tensors().size() == 0) d.line(1, "None.");
}

void operators(Document& d) {
  d.heading("Operators in the order in which they run");
  for (const auto& n : d.graph.nodes()) {
    std::string head = "#" + std::to_string(n.index()) + "  " + std::string(n.op());
    if (!n.overload().empty()) head.append(".").append(n.overload());
    if (n.call() && !n.call().module().path().empty())
      head.append("  in ").append(n.call().module().path());
    if (!n.location().empty()) head.append("  at ").append(n.location());
    d.line(1, head);
    d.line(2, "(" + arguments_of(n) + ") → " + results_of(n));
    if (const auto values = d.values(cells(d, n)); !values.empty()) d.line(2, values);
    if (const auto parameters = reports::parameters_of(n); parameters > 0)
      d.line(2, "parameters " + tmeter::grouped(parameters));
    for (const auto& t : reports::tensors_of(n))
      if (const auto values = d.values(cells(d, t)); !values.empty())
        d.line(2, std::string(t.name()) + ": " + values);
    d.advice(TMETER_AXIS_NODE, n.index());
  }
  if (d.graph.nodes().size() == 0) d.line(1, "None: the file holds weights only.");
}

void curves(Document& d) {
  const auto distributions = d.report.distributions();
  const auto series = d.report.series();
  if (distributions.size() + series.size() == 0) return;
  d.heading("Histograms and curves");
  for (const auto& h : distributions) {
    uint64_t all = 0;
    for (size_t i = 0; i < h.bin_count; ++i) all += h.counts[i];
    d.line(1, std::string(to_view(h.title)) + " of " + of(d, h.of) + ": " + std::to_string(all) +
                  " in " + plugins::count_of(h.bin_count, "bin"));
    for (size_t i = 0; i < h.bin_count; ++i)
      if (h.counts[i] > 0)
        d.line(2, reports::plain_number(h.edges[i]) + " … " +
                      reports::plain_number(h.edges[i + 1]) + ": " + std::to_string(h.counts[i]));
  }
  for (const auto& s : series) {
    d.line(1, std::string(to_view(s.title)) + " of " + of(d, s.of) + ": " +
                  std::string(to_view(s.y_title)) + " over " + std::string(to_view(s.x_title)));
    for (size_t i = 0; i < s.point_count; ++i)
      d.line(2, reports::plain_number(s.x[i]) + ": " + reports::plain_number(s.y[i]));
  }
}

}  // namespace full_text_report
