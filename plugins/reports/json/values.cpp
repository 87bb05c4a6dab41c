#include "values.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "../common/columns.hpp"

namespace json_report {
namespace {

using tmeter::Cell;
using tmeter::Value;

/// As `reports::status_of` names them, in the order in which they are written.
constexpr std::array<std::string_view, 7> kStatuses{
    "zero_by_rule", "unknown", "unavailable", "in_module", "not_finite", "lower_bound", "partial"};

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

bool same_cell(const tmeter_number& a, const tmeter_number& b) {
  return a.kind == b.kind && a.flags == b.flags && a.i == b.i &&
         std::bit_cast<uint64_t>(a.f) == std::bit_cast<uint64_t>(b.f);
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

namespace {

template <class Visit>
void for_each_leaf(const Value& value, Visit&& visit) {
  if (!value.is_list()) return visit(value);
  for (size_t i = 0; i < value.size(); ++i) for_each_leaf(value[i], visit);
}

// What JSON has a text for although the value is none.
std::string_view kind_of(const Value& value) {
  if (value.kind() == TMETER_VALUE_DTYPE) return "dtype";
  if (value.kind() == TMETER_VALUE_OTHER) return "other";
  if (value.kind() == TMETER_VALUE_FLOAT && !std::isfinite(value.as_float())) return "float";
  return "";
}

}  // namespace

Json number(const Cell& cell) {
  if (cell.is_int()) return cell.count().value();
  if (cell.is_number() && std::isfinite(cell.real())) return cell.real();
  return cell.is_zero_by_rule() ? Json(0) : Json(nullptr);
}

std::string_view infinite_sign(const Cell& cell) {
  if (!cell.is_number() || !std::isinf(cell.real())) return "";
  return cell.real() < 0 ? "-inf" : "inf";
}

Values::Values(const tmeter::Report& report)
    : report_(report), metrics_(reports::all_metrics(report)) {
  for (const auto& metric : metrics_) keys_.push_back(quoted(metric.id()));
}

void Values::write(Stream& stream, int32_t axis, size_t index) {
  cells_.clear();
  for (const auto& metric : metrics_) cells_.push_back(report_.cell(metric, axis, index).abi());
  auto& written = place_of(cells_);
  if (written.text.empty() || !std::ranges::equal(written.cells, cells_, same_cell)) {
    written.text = text_of(cells_);
    written.cells = cells_;
  }
  stream.members(written.text);
}

Values::Written& Values::place_of(const std::vector<tmeter_number>& cells) {
  uint64_t hash = 0;
  for (const auto& c : cells) {
    hash ^=
        static_cast<uint64_t>(c.i) + std::bit_cast<uint64_t>(c.f) + static_cast<uint64_t>(c.kind);
    hash *= 0x9E3779B97F4A7C15;
    hash ^= hash >> 32;
  }
  return written_[hash % kKept];
}

std::string Values::text_of(const std::vector<tmeter_number>& cells) {
  std::string text;
  Stream stream(text);
  write_cells(stream, cells);
  stream.flush();
  return text;
}

void Values::write_cells(Stream& stream, const std::vector<tmeter_number>& cells) {
  Json infinite;
  stream.key("values").open('{');
  for (size_t m = 0; m < metrics_.size(); ++m) {
    const Cell cell(cells[m]);
    if (cell.by_module()) mark(kStatuses.size(), m);
    if (cell.empty()) continue;
    write_number(stream.ready_key(keys_[m]), cell);
    if (const auto status = reports::status_of(cell, metrics_[m]))
      mark(static_cast<size_t>(std::ranges::find(kStatuses, *status) - kStatuses.begin()), m);
    if (const auto sign = infinite_sign(cell); !sign.empty())
      infinite.emplace(metrics_[m].id(), sign);
  }
  stream.close('}');
  if (any_marked_) write_marks(stream);
  if (!infinite.empty()) stream.key("infinite").json(infinite);
}

void Values::mark(size_t what, size_t metric) {
  marked_[what].push_back(metric);
  any_marked_ = true;
}

void Values::write_marks(Stream& stream) {
  for (size_t s = 0; s < marked_.size(); ++s) {
    if (marked_[s].empty()) continue;
    stream.key(s < kStatuses.size() ? kStatuses[s] : "by_module").open('[');
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

void write_tensor_members(Stream& stream, const Value& value) {
  stream.key("dtype").text(value.dtype().name());
  write_shape(stream.key("shape"), value.shape());
  write_symbolic_shape(stream, value);
}

ValueWriter::ValueWriter(const tmeter::Graph& graph) {
  const auto inputs = graph.inputs();
  for (size_t i = 0; i < inputs.size(); ++i)
    inputs_.emplace(inputs[i].handle(), graph.input_name(i));
  for (const auto& node : graph.nodes()) {
    int64_t place = 0;
    for (size_t i = 0; i < node.result_count(); ++i)
      for_each_leaf(node.result(i), [&](const Value& leaf) {
        if (place > 0 && leaf.producer().handle() == node.handle())
          places_.emplace(leaf.handle(), place);
        ++place;
      });
    makes_several_.push_back(place > 1);
  }
}

int64_t ValueWriter::place_of(const Value& value, const tmeter::Node& producer) const {
  const auto node = producer.index();
  if (node >= makes_several_.size() || !makes_several_[node]) return 0;
  const auto place = places_.find(value.handle());
  return place == places_.end() ? 0 : place->second;
}

void ValueWriter::write_origin(Stream& stream, const Value& value) const {
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

Json ValueWriter::list_detail(const Value& value, bool with_origin) const {
  Json items;
  for (size_t i = 0; i < value.size(); ++i) {
    auto item = detail(value[i], with_origin);
    if (item.is_null() && items.is_null()) continue;
    while (items.size() < i) items.push_back(nullptr);
    items.push_back(std::move(item));
  }
  return items;
}

Json ValueWriter::detail(const Value& value, bool with_origin) const {
  if (value.is_list()) return list_detail(value, with_origin);
  Json out;
  if (value.is_tensor()) return out;  // its object has everything
  if (const auto kind = kind_of(value); !kind.empty()) out["kind"] = kind;
  if (const auto producer = value.producer(); with_origin && producer) {
    out["node"] = producer.index();
    if (const auto place = place_of(value, producer); place > 0) out["result"] = place;
  }
  return out;
}

void ValueWriter::write_list(Stream& stream, const Value& value, bool with_origin) const {
  stream.open('[');
  for (size_t i = 0; i < value.size(); ++i) write(stream, value[i], with_origin);
  stream.close(']');
}

void ValueWriter::write_members(Stream& stream, const Value& tensor, bool with_origin) const {
  write_tensor_members(stream, tensor);
  if (with_origin) write_origin(stream, tensor);
}

void ValueWriter::write(Stream& stream, const Value& value, bool with_origin) const {
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
