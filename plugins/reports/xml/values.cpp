#include "values.hpp"

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

void write_figure(Stream& stream, const tmeter::Metric& metric, const tmeter::Cell& cell) {
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

}  // namespace xml_report
