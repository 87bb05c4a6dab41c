#include "values.hpp"

#include <array>
#include <cmath>

#include "../common/columns.hpp"

namespace json_report {
namespace {

using tmeter::Cell;
using tmeter::Value;

/// As `reports::status_of` names them, in the order in which they are written.
constexpr std::array<std::string_view, 6> kStatuses{"zero_by_rule", "unknown",     "unavailable",
                                                    "not_finite",   "lower_bound", "partial"};

void write_number(Stream& stream, const Cell& cell) {
  if (cell.is_int())
    stream.integer(cell.count().value());
  else if (cell.is_number() && std::isfinite(cell.real()))
    stream.real(cell.real());
  else if (cell.is_zero_by_rule())
    stream.integer(0);
  else
    stream.null();
}

// JSON has no infinity: "inf", "-inf", "nan".
void write_real(Stream& stream, double v) {
  if (std::isfinite(v))
    stream.real(v);
  else
    stream.text(std::isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
}

// The dims as the file writes them: ["batch", "3"].
void write_symbolic_shape(Stream& stream, const Value& value) {
  const auto dims = value.shape();
  bool symbols = false;
  for (int64_t i = 0; i < dims.rank() && !symbols; ++i) symbols = !value.dim_text(i).empty();
  if (!symbols) return;
  stream.key("symbolic_shape").open('[');
  for (int64_t i = 0; i < dims.rank(); ++i) {
    const auto text = value.dim_text(i);
    stream.text(text.empty() ? std::to_string(dims[i]) : std::string(text));
  }
  stream.close(']');
}

}  // namespace

Json number(const Cell& cell) {
  if (cell.is_int()) return cell.count().value();
  if (cell.is_number() && std::isfinite(cell.real())) return cell.real();
  return cell.is_zero_by_rule() ? Json(0) : Json(nullptr);
}

Values::Values(const tmeter::Report& report)
    : report_(report), metrics_(reports::all_metrics(report)) {}

void Values::write(Stream& stream, int32_t axis, size_t index) const {
  std::array<std::vector<std::string_view>, kStatuses.size()> marked;
  stream.key("values").open('{');
  for (size_t m = 0; m < metrics_.size(); ++m) {
    const auto cell = report_.cell(metrics_[m], axis, index);
    if (cell.empty()) continue;
    write_number(stream.key(metrics_[m].id()), cell);
    const auto status = reports::status_of(cell, metrics_[m]);
    for (size_t s = 0; s < kStatuses.size(); ++s)
      if (status == kStatuses[s]) marked[s].push_back(metrics_[m].id());
  }
  stream.close('}');
  for (size_t s = 0; s < kStatuses.size(); ++s) {
    if (marked[s].empty()) continue;
    stream.key(kStatuses[s]).open('[');
    for (const auto id : marked[s]) stream.text(id);
    stream.close(']');
  }
}

void write_shape(Stream& stream, const tmeter::Shape& shape) {
  stream.open('[');
  for (const int64_t dim : shape) stream.integer(dim);
  stream.close(']');
}

void write_tensor_members(Stream& stream, const Value& value) {
  stream.key("dtype").text(value.dtype().name());
  write_shape(stream.key("shape"), value.shape());
  write_symbolic_shape(stream, value);
}

ValueWriter::ValueWriter(const tmeter::Graph& graph) {
  const auto inputs = graph.inputs();
  for (size_t i = 0; i < inputs.size(); ++i)
    inputs_.emplace(inputs[i].handle(), graph.input_name(i));
}

void ValueWriter::write_origin(Stream& stream, const Value& value) const {
  if (const auto tensor = value.tensor()) {
    stream.key("tensor").text(tensor.name());
  } else if (const auto producer = value.producer()) {
    stream.key("node").integer(static_cast<int64_t>(producer.index()));
  } else if (const auto input = inputs_.find(value.handle()); input != inputs_.end()) {
    stream.key("input").text(input->second);
  }
}

void ValueWriter::write_list(Stream& stream, const Value& value, bool with_origin) const {
  stream.open('[');
  for (size_t i = 0; i < value.size(); ++i) write(stream, value[i], with_origin);
  stream.close(']');
}

void ValueWriter::write(Stream& stream, const Value& value, bool with_origin) const {
  switch (value.kind()) {
    case TMETER_VALUE_TENSOR:
      stream.open('{');
      write_tensor_members(stream, value);
      if (with_origin) write_origin(stream, value);
      stream.close('}');
      break;
    case TMETER_VALUE_INT:
      stream.integer(value.as_int());
      break;
    case TMETER_VALUE_FLOAT:
      write_real(stream, value.as_float());
      break;
    case TMETER_VALUE_BOOL:
      stream.boolean(value.as_bool());
      break;
    case TMETER_VALUE_NONE:
      stream.null();
      break;
    case TMETER_VALUE_DTYPE:
      stream.text(tmeter::DType(static_cast<int32_t>(value.as_int())).name());
      break;
    case TMETER_VALUE_LIST:
      write_list(stream, value, with_origin);
      break;
    default:
      stream.text(value.text());
  }
}

}  // namespace json_report
