#include "values.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "../common/columns.hpp"

namespace json_report {
namespace {

using tmeter::Cell;
using tmeter::Value;

/// A metric has values on its own axis and on those of its roll-up (abi/report.h, `cell`).
bool may_have_values(int32_t of_metric, int32_t axis) {
  switch (axis) {
    case TMETER_AXIS_NODE:
    case TMETER_AXIS_TENSOR:
      return of_metric == axis;
    case TMETER_AXIS_MODULE_CALL:
      return of_metric == axis || of_metric == TMETER_AXIS_NODE;
    default:
      return true;
  }
}

using reports::CellStatus;

/// Compares bits, because -0.0 and 0.0 are written differently.
bool same(const std::vector<tmeter_number>& a, const std::vector<tmeter_number>& b) {
  static_assert(sizeof(tmeter_number) == 24, "without padding");
  if (a.size() != b.size()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(tmeter_number)) == 0;
}

uint64_t mixed(uint64_t hash, const tmeter_number& c) {
  hash ^= static_cast<uint64_t>(c.i) + std::bit_cast<uint64_t>(c.f) + static_cast<uint64_t>(c.kind);
  hash *= 0x9E3779B97F4A7C15;
  return hash ^ hash >> 32;
}

/// Infinity and NaN, which JSON lacks, become "inf", "-inf" and "nan".
void write_real(Stream& stream, double v) {
  if (std::isfinite(v))
    stream.real(v);
  else
    stream.text(std::isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
}

/// The dims as the file's expressions: ["batch", "3"].
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

template <class Visit>
void for_each_leaf(const Value& value, Visit&& visit) {
  if (!value.is_list()) return visit(value);
  for (size_t i = 0; i < value.size(); ++i) for_each_leaf(value[i], visit);
}

/// The kind of a value that is written as text although it is not a text; empty: another value.
std::string_view kind_of(const Value& value) {
  const auto kind = value.kind();
  if (kind == TMETER_VALUE_DTYPE) return "dtype";
  if (kind == TMETER_VALUE_OTHER) return "other";
  if (kind == TMETER_VALUE_FLOAT && !std::isfinite(value.as_float())) return "float";
  return "";
}

}  // namespace

std::string_view infinite_sign(const Cell& cell) {
  if (!cell.is_number() || !std::isinf(cell.real())) return "";
  return cell.real() < 0 ? "-inf" : "inf";
}

Values::Values(const tmeter::Report& report)
    : report_(report), metrics_(reports::all_metrics(report)) {
  for (size_t m = 0; m < metrics_.size(); ++m) {
    keys_.push_back(reports::quoted(metrics_[m].id()));
    for (size_t axis = 0; axis < kAxes; ++axis)
      if (may_have_values(metrics_[m].axis(), static_cast<int32_t>(axis)))
        of_axis_[axis].push_back(m);
  }
}

bool Values::any_by_module(int32_t axis, size_t index) const {
  return std::ranges::any_of(metrics_of(axis), [&](size_t m) {
    return report_.cell(metrics_[m], axis, index).by_module();
  });
}

bool Values::has_metrics_on(int32_t axis) const {
  return std::ranges::any_of(metrics_, [&](const auto& m) { return m.axis() == axis; });
}

void Values::write(Stream& stream, int32_t axis, size_t index) {
  const auto& metrics = metrics_of(axis);
  cells_.resize(metrics.size());
  auto hash = static_cast<uint64_t>(axis);
  for (size_t i = 0; i < metrics.size(); ++i) {
    cells_[i] = report_.cell(metrics_[metrics[i]], axis, index).abi();
    hash = mixed(hash, cells_[i]);
  }
  auto& written = written_[hash % kCachedRows];
  if (written.text.empty() || written.axis != axis || !same(written.cells, cells_)) {
    scratch_.start();
    write_cells(scratch_, axis, cells_);
    written.axis = axis;
    written.text = scratch_.made();
    written.cells = cells_;
  }
  stream.members(written.text);
}

void Values::write_cells(Stream& stream, int32_t axis, const std::vector<tmeter_number>& cells) {
  std::vector<std::pair<size_t, std::string_view>> infinite;  // metrics and signs
  stream.key("values").open('{');
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto m = metrics_of(axis)[i];
    const Cell cell(cells[i]);
    if (cell.by_module()) mark(CellStatus::kByModule, m);
    if (cell.empty()) continue;
    stream.ready_key(keys_[m]).number(cell);
    if (const auto status = reports::cell_status(cell, metrics_[m])) mark(*status, m);
    if (const auto sign = infinite_sign(cell); !sign.empty()) infinite.emplace_back(m, sign);
  }
  stream.close('}');
  if (any_marked_) write_marks(stream);
  if (infinite.empty()) return;
  stream.key("infinite").open('{');
  for (const auto& [m, sign] : infinite) stream.key(metrics_[m].id()).text(sign);
  stream.close('}');
}

void Values::mark(CellStatus status, size_t metric) {
  marked_[static_cast<size_t>(status)].push_back(metric);
  any_marked_ = true;
}

void Values::write_marks(Stream& stream) {
  for (size_t s = 0; s < marked_.size(); ++s) {
    if (marked_[s].empty()) continue;
    stream.key(tmeter::vocabulary::kCellStatuses.words[s]).open('[');
    for (const auto m : marked_[s]) stream.text(metrics_[m].id());
    stream.close(']');
    marked_[s].clear();
  }
  any_marked_ = false;
}

void write_shape(Stream& stream, const tmeter::Shape& shape) {
  stream.open('[');
  for (const int64_t dim : shape) stream.integer(dim);
  stream.close(']');
}

ValueWriter::ValueWriter(const tmeter::Graph& graph) : any_symbols_(graph.symbols().size() > 0) {
  const auto inputs = graph.inputs();
  for (size_t i = 0; i < inputs.size(); ++i)
    inputs_.emplace(inputs[i].handle(), graph.input_name(i));
}

int64_t ValueWriter::place_of(const Value& value, const tmeter::Node& producer) {
  const auto count = producer.result_count();
  if (count == 0 || (count == 1 && !producer.result(0).is_list())) return 0;
  note_places(producer);
  const auto place = places_.find(value.handle());
  return place == places_.end() ? 0 : place->second;
}

void ValueWriter::note_places(const tmeter::Node& producer) {
  if (!noted_.insert(producer.handle()).second) return;
  int64_t place = 0;
  for (size_t i = 0; i < producer.result_count(); ++i)
    for_each_leaf(producer.result(i), [&](const Value& leaf) {
      if (leaf.producer().handle() == producer.handle()) places_.emplace(leaf.handle(), place);
      ++place;
    });
}

void ValueWriter::write_origin(Stream& stream, const Value& value) {
  if (const auto tensor = value.tensor()) {
    stream.key("tensor").text(tensor.name());
  } else if (const auto producer = value.producer()) {
    stream.key("node").integer(static_cast<int64_t>(producer.index()));
    if (const auto place = place_of(value, producer); place > 0)
      stream.key("result").integer(place);
  } else if (const auto input = inputs_.find(value.handle()); input != inputs_.end()) {
    stream.key("input").text(input->second);
  }
}

bool ValueWriter::has_detail(const Value& value, bool with_origin) const {
  const auto value_kind = value.kind();
  if (value_kind == TMETER_VALUE_TENSOR) return false;  // its object is complete
  if (value_kind != TMETER_VALUE_LIST)
    return !kind_of(value).empty() || (with_origin && value.producer());
  for (size_t i = 0; i < value.size(); ++i)
    if (has_detail(value[i], with_origin)) return true;
  return false;
}

void ValueWriter::write_detail(Stream& stream, const Value& value, bool with_origin) {
  if (value.kind() == TMETER_VALUE_LIST) {
    stream.open('[');
    for (size_t i = 0; i < value.size(); ++i) {
      if (has_detail(value[i], with_origin))
        write_detail(stream, value[i], with_origin);
      else
        stream.null();
    }
    stream.close(']');
    return;
  }
  stream.open('{');
  if (const auto kind = kind_of(value); !kind.empty()) stream.key("kind").text(kind);
  if (const auto producer = value.producer(); with_origin && producer) {
    stream.key("node").natural(producer.index());
    if (const auto place = place_of(value, producer); place > 0)
      stream.key("result").integer(place);
  }
  stream.close('}');
}

void ValueWriter::write_list(Stream& stream, const Value& value, bool with_origin) {
  stream.open('[');
  for (size_t i = 0; i < value.size(); ++i) write(stream, value[i], with_origin);
  stream.close(']');
}

void ValueWriter::write_size(Stream& stream, const Value& tensor) {
  const auto shape = tensor.shape();
  const auto dtype = tensor.dtype();
  auto& written =
      written_[reinterpret_cast<uintptr_t>(shape.begin()) / sizeof(int64_t) % written_.size()];
  if (written.text.empty() || written.dims != shape.begin() || written.rank != shape.rank() ||
      written.dtype != dtype.id()) {
    scratch_.start();
    write_shape(scratch_.key("dtype").text(dtype.name()).key("shape"), shape);
    written = {shape.begin(), shape.rank(), dtype.id(), std::string(scratch_.made())};
  }
  stream.members(written.text);
}

void ValueWriter::write_members(Stream& stream, const Value& tensor, bool with_origin) {
  write_size(stream, tensor);
  if (any_symbols_) write_symbolic_shape(stream, tensor);
  if (with_origin) write_origin(stream, tensor);
}

void ValueWriter::write(Stream& stream, const Value& value, bool with_origin) {
  switch (value.kind()) {
    case TMETER_VALUE_TENSOR:
      stream.open('{');
      write_members(stream, value, with_origin);
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
