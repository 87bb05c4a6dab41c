// Cells, shapes and values of the graph as JSON.
#pragma once
#include <array>
#include <unordered_map>
#include <vector>

#include "../common/figures.hpp"
#include "stream.hpp"

namespace json_report {

/// 25557032, 0.0188, 0 for zero by rule; null for everything that is not a finite number.
Json number(const tmeter::Cell& cell);

/// "inf" or "-inf" of a figure that is; else empty.
std::string_view infinite_sign(const tmeter::Cell& cell);

/// The figures of one row: "values" ({metric id: number or null}), and for each cell that is not a
/// plain number its metric in "zero_by_rule", "unknown", "unavailable", "not_finite" or – of a
/// module in which something has no figure – "lower_bound" or, where the rest bounds nothing,
/// "partial"; "infinite" tells the sign of those that are. Metrics that do not apply are left out.
class Values {
 public:
  explicit Values(const tmeter::Report& report);
  /// For another thread: `like` may be writing a row meanwhile.
  Values(const Values& like) : Values(like.report_) {}
  void write(Stream& stream, int32_t axis, size_t index);
  const std::vector<tmeter::Metric>& metrics() const { return metrics_; }

 private:
  /// Figures that a row had, and what was written of them.
  struct Written {
    std::vector<tmeter_number> cells;
    std::string text;
  };
  static constexpr size_t kKept = 256;

  Written& place_of(const std::vector<tmeter_number>& cells);
  std::string text_of(const std::vector<tmeter_number>& cells);
  void write_cells(Stream& stream, const std::vector<tmeter_number>& cells);
  void mark(size_t what, size_t metric);
  void write_marks(Stream& stream);

  const tmeter::Report& report_;
  std::vector<tmeter::Metric> metrics_;
  std::vector<std::string> keys_;     // their ids as keys
  std::vector<tmeter_number> cells_;  // of the row being written
  /// Of the row being written: by status, the last by module, which metrics are marked.
  std::array<std::vector<size_t>, 8> marked_;
  bool any_marked_ = false;
  /// Layers repeat, and with them the figures of their operators and tensors: the last ones, each
  /// at a place that follows from them.
  std::vector<Written> written_{kKept};
};

void write_shape(Stream& stream, const tmeter::Shape& shape);

/// "dtype", "shape" and, with symbols, "symbolic_shape" of a tensor as members of an open object.
void write_tensor_members(Stream& stream, const tmeter::Value& value);

/// Arguments, results, attributes. Tensors become objects with the members above and where they
/// are from: "node" (index) and "result" (which of what it makes), "tensor" (name) or "input"
/// (name). Everything else becomes what JSON has for it.
class ValueWriter {
 public:
  explicit ValueWriter(const tmeter::Graph& graph);
  void write(Stream& stream, const tmeter::Value& value, bool with_origin) const;

  /// The members of a tensor, of an object that is open.
  void write_members(Stream& stream, const tmeter::Value& tensor, bool with_origin) const;

  /// What the JSON of a value does not tell: of a scalar "kind" and, with origin, "node" and
  /// "result"; of a list such details of its items. Null when there is nothing.
  Json detail(const tmeter::Value& value, bool with_origin) const;

 private:
  void write_origin(Stream& stream, const tmeter::Value& value) const;
  /// Which of what its node makes; 0: the first.
  int64_t place_of(const tmeter::Value& value, const tmeter::Node& producer) const;
  void write_list(Stream& stream, const tmeter::Value& value, bool with_origin) const;
  Json list_detail(const tmeter::Value& value, bool with_origin) const;
  std::unordered_map<const tmeter_value*, std::string> inputs_;
  /// Of what a node makes, lists taken apart, all but the first.
  std::unordered_map<const tmeter_value*, int64_t> places_;
  std::vector<bool> makes_several_;  // by node: whether there may be some of it in places_
};

}  // namespace json_report
