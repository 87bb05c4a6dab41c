#include "rows.hpp"

#include <array>
#include <tmeter/cpp/module_ids.hpp>
#include <tmeter/cpp/vocabulary.hpp>

#include "../common/columns.hpp"

namespace xml_report {
namespace {

using tmeter::Value;

std::string xml_number(const tmeter::Cell& cell) { return reports::plain_number(cell); }

// XML Schema's doubles: INF, -INF, NaN.
std::string xml_real(double v) {
  if (v != v) return "NaN";
  const auto text = reports::plain_number(v);
  return text == "inf" ? "INF" : text == "-inf" ? "-INF" : text;
}

std::string symbolic_shape(const Value& value) {
  const auto dims = value.shape();
  std::string text;
  bool symbols = false;
  for (int64_t i = 0; i < dims.rank(); ++i) {
    const auto symbol = value.dim_text(i);
    symbols = symbols || !symbol.empty();
    if (i) text += ' ';
    for (const char c : symbol)
      if (c != ' ') text += c;  // "2*s77 + 1" is one item of the list
    if (symbol.empty()) text += std::to_string(dims[i]);
  }
  return symbols ? text : std::string();
}

}  // namespace

std::string hyphened(std::string_view status) {
  std::string out(status);
  for (auto& c : out)
    if (c == '_') c = '-';
  return out;
}

std::string spaced(const tmeter::Shape& shape) {
  std::string text;
  for (const auto d : shape) {
    if (!text.empty()) text += ' ';
    text += std::to_string(d);
  }
  return text;
}

void write_cell(Stream& stream, const tmeter::Metric& metric, const tmeter::Cell& cell) {
  if (cell.empty()) return;
  stream.element("figure").attribute("metric", metric.id());
  const auto status = reports::status_of(cell, metric);
  const bool finite = cell.known() && status != "not_finite";
  if (finite) stream.attribute("value", xml_number(cell));
  if (status) stream.attribute("status", hyphened(*status));
}

void write_tensor_attributes(Stream& stream, const Value& value) {
  stream.attribute("dtype", value.dtype().name()).attribute("shape", spaced(value.shape()));
  stream.optional("symbolic-shape", symbolic_shape(value));
}

ValueWriter::ValueWriter(const tmeter::Graph& graph) {
  const auto inputs = graph.inputs();
  for (size_t i = 0; i < inputs.size(); ++i)
    inputs_.emplace(inputs[i].handle(), graph.input_name(i));
}

void ValueWriter::write_tensor(Stream& stream, const Value& value, bool with_origin) const {
  write_tensor_attributes(stream.element("tensor"), value);
  if (!with_origin) return;
  if (const auto tensor = value.tensor())
    stream.attribute("tensor", tensor.name());
  else if (const auto producer = value.producer())
    stream.attribute("node", producer.index());
  else if (const auto input = inputs_.find(value.handle()); input != inputs_.end())
    stream.attribute("input", input->second);
}

void ValueWriter::write(Stream& stream, const Value& value, bool with_origin) const {
  switch (value.kind()) {
    case TMETER_VALUE_TENSOR:
      return write_tensor(stream, value, with_origin);
    case TMETER_VALUE_INT:
      stream.element("int").text(std::to_string(value.as_int()));
      return;
    case TMETER_VALUE_FLOAT:
      stream.element("float").text(xml_real(value.as_float()));
      return;
    case TMETER_VALUE_BOOL:
      stream.element("bool").text(value.as_bool() ? "true" : "false");
      return;
    case TMETER_VALUE_NONE:
      stream.element("none");
      return;
    case TMETER_VALUE_DTYPE:
      stream.element("dtype").text(tmeter::DType(static_cast<int32_t>(value.as_int())).name());
      return;
    case TMETER_VALUE_LIST:
      stream.open("list");
      for (size_t i = 0; i < value.size(); ++i) write(stream, value[i], with_origin);
      stream.close();
      return;
    default:
      stream.element("text").text(value.text());
  }
}

using tmeter::Module;
using tmeter::Node;
using tmeter::Tensor;

RowWriter::RowWriter(Stream& stream, const tmeter::Report& report)
    : stream_(stream),
      report_(report),
      graph_(report.graph()),
      metrics_(reports::all_metrics(report)),
      values_(graph_),
      ids_(tmeter::module_ids(graph_)),
      findings_(report) {}

void RowWriter::findings(int32_t axis, size_t index) {
  std::string places;
  for (const auto place : findings_.of(axis, index))
    places += (places.empty() ? "" : " ") + std::to_string(place);
  stream_.optional("findings", places);
}

void RowWriter::cells(int32_t axis, size_t index) {
  for (const auto& m : metrics_) write_cell(stream_, m, report_.cell(m, axis, index));
}

void RowWriter::inputs() {
  stream_.open("inputs");
  const auto inputs = graph_.inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    stream_.open("input").attribute("name", graph_.input_name(i));
    stream_.optional("origin", graph_.input_origin(i));
    values_.write(stream_, inputs[i], false);
    stream_.close();
  }
  stream_.close();
}

void RowWriter::outputs() {
  stream_.open("outputs");
  for (const auto& value : graph_.outputs()) {
    stream_.open("output");
    values_.write(stream_, value, false);
    stream_.close();
  }
  stream_.close();
}

void RowWriter::modules() {
  stream_.open("modules");
  for (const auto& module : graph_.modules()) module_row(module);
  stream_.close();
}

void RowWriter::module_row(const Module& module) {
  const auto parent = module.parent();
  stream_.open("module").attribute("id", ids_[module.index()]).attribute("path", module.path());
  stream_.attribute("name", module.name()).attribute("type", module.type());
  stream_.attribute("qualified-type", module.qualified_type());
  stream_.attribute("calls", module.calls());
  if (parent) stream_.attribute("parent", ids_[parent.index()]);
  stream_.optional("text", report_.module_text(module));
  constexpr std::array<std::array<std::string_view, 2>, 3> kFacts{{{"kernel_size", "kernel-size"},
                                                                   {"input_size", "input-size"},
                                                                   {"output_size", "output-size"}}};
  for (const auto& [key, name] : kFacts) stream_.optional(name, report_.fact(module, key));
  if (const auto repeat = report_.repeat(module))
    stream_.attribute("repeat-window", repeat.window).attribute("repeat-times", repeat.times);
  findings(TMETER_AXIS_MODULE, module.index());
  for (size_t i = 0; i < module.attribute_count(); ++i) {
    stream_.open("attribute").attribute("name", module.attribute_name(i));
    values_.write(stream_, module.attribute(i), false);
    stream_.close();
  }
  cells(TMETER_AXIS_MODULE, module.index());
  stream_.close();
}

void RowWriter::nodes() {
  stream_.open("nodes");
  for (const auto& node : graph_.nodes()) node_row(node);
  stream_.close();
}

void RowWriter::node_row(const Node& node) {
  stream_.open("node").attribute("index", node.index()).attribute("op", node.op());
  stream_.optional("overload", node.overload());
  if (const auto call = node.call()) stream_.attribute("module", call.module().path());
  stream_.optional("location", node.location());
  if (const auto parameters = reports::parameters_of(node); parameters > 0)
    stream_.attribute("parameters", parameters);
  findings(TMETER_AXIS_NODE, node.index());
  for (size_t i = 0; i < node.arg_count(); ++i) {
    stream_.open("argument").optional("name", node.arg_name(i));
    values_.write(stream_, node.arg(i), true);
    stream_.close();
  }
  for (size_t i = 0; i < node.result_count(); ++i) {
    stream_.open("result");
    values_.write(stream_, node.result(i), false);
    stream_.close();
  }
  cells(TMETER_AXIS_NODE, node.index());
  stream_.close();
}

void RowWriter::tensors() {
  stream_.open("tensors");
  for (const auto& tensor : graph_.tensors()) tensor_row(tensor);
  stream_.close();
}

void RowWriter::tensor_row(const Tensor& tensor) {
  stream_.open("tensor").attribute("index", tensor.index()).attribute("name", tensor.name());
  stream_.attribute("kind", tmeter::vocabulary::kTensorKinds.word(tensor.kind()));
  stream_.attribute("dtype", tensor.dtype().name()).attribute("shape", spaced(tensor.shape()));
  stream_.attribute("numel", tensor.numel().value());
  stream_.attribute("trainable", tensor.trainable() ? "true" : "false");
  if (const auto owner = tensor.owner()) stream_.attribute("owner", owner.path());
  if (tensor.is_tied()) stream_.attribute("tied-to", tensor.canonical().name());
  stream_.optional("encoding", tensor.encoding());
  stream_.optional("encoding-parameters", tmeter::to_view(tensor.storage().parameters));
  findings(TMETER_AXIS_TENSOR, tensor.index());
  cells(TMETER_AXIS_TENSOR, tensor.index());
  stream_.close();
}

}  // namespace xml_report
