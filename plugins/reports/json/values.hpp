// Cells, shapes and values of the graph as JSON.
#pragma once
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "../common/cells.hpp"
#include "../common/json_stream.hpp"

namespace json_report {

using Stream = reports::JsonStream;

/// "inf" or "-inf" for an infinite value, otherwise empty.
std::string_view infinite_sign(const tmeter::Cell& cell);

/// The values of one row: "values" ({metric id: number or null}); for each status (CellStatus) the
/// ids of the metrics that have it, such as "zero_by_rule": ["macs"]; and "infinite", the signs of
/// infinite values. Metrics that do not apply are left out.
class Values {
 public:
  explicit Values(const tmeter::Report& report);
  /// A copy for another thread, which may run while `like` is in use.
  Values(const Values& like) : Values(like.report_) {}
  void write(Stream& stream, int32_t axis, size_t index);
  /// Whether a module handler gave one of the row's values.
  bool any_by_module(int32_t axis, size_t index) const;
  /// Whether the report has a metric on this axis.
  bool has_metrics_on(int32_t axis) const;

 private:
  static constexpr size_t kAxes = 5;  // TMETER_AXIS_…
  /// The cells of a row and their text.
  struct Written {
    int32_t axis = 0;
    std::vector<tmeter_number> cells;
    std::string text;
  };
  static constexpr size_t kCachedRows = 256;

  const std::vector<size_t>& metrics_of(int32_t axis) const {
    return of_axis_[static_cast<size_t>(axis)];
  }
  void write_cells(Stream& stream, int32_t axis, const std::vector<tmeter_number>& cells);
  void mark(reports::CellStatus status, size_t metric);
  void write_marks(Stream& stream);

  const tmeter::Report& report_;
  std::vector<tmeter::Metric> metrics_;
  std::vector<std::string> keys_;                   // their ids as keys
  std::array<std::vector<size_t>, kAxes> of_axis_;  // metrics that may have values there
  std::vector<tmeter_number> cells_;                // cells of the current row
  Stream scratch_;
  /// For each status, the metrics that have it in the current row.
  std::array<std::vector<size_t>, tmeter::vocabulary::kCellStatuses.words.size()> marked_;
  bool any_marked_ = false;
  /// A cache of written rows by hash: layers repeat, and with them the cells of operators and
  /// tensors.
  std::vector<Written> written_{kCachedRows};
};

void write_shape(Stream& stream, const tmeter::Shape& shape);

/// Arguments, results, attributes. Tensors become objects with "dtype", "shape", "symbolic_shape"
/// if there are symbols, and their origin: "node" (index) and "result" (index among its results),
/// "tensor" (name) or "input" (name). All other values become plain JSON values.
class ValueWriter {
 public:
  explicit ValueWriter(const tmeter::Graph& graph);
  void write(Stream& stream, const tmeter::Value& value, bool with_origin);

  /// Writes the members of a tensor into the open object.
  void write_members(Stream& stream, const tmeter::Value& tensor, bool with_origin);

  /// Whether the plain JSON of a value is incomplete, so that `write_detail` adds the rest.
  bool has_detail(const tmeter::Value& value, bool with_origin) const;
  /// Properties of a value that its JSON lacks: for a scalar "kind" and, with origin, "node" and
  /// "result"; for a list the details of its items, null for items without any.
  void write_detail(Stream& stream, const tmeter::Value& value, bool with_origin);

 private:
  void write_size(Stream& stream, const tmeter::Value& tensor);
  void write_origin(Stream& stream, const tmeter::Value& value);
  /// The index of a value among its node's results, with lists flattened.
  int64_t place_of(const tmeter::Value& value, const tmeter::Node& producer);
  void note_places(const tmeter::Node& producer);
  void write_list(Stream& stream, const tmeter::Value& value, bool with_origin);
  bool any_symbols_;
  std::unordered_map<const tmeter_value*, std::string> inputs_;
  /// The written dtype and dims, by the address of the dims: many tensors share them.
  struct Written {
    const int64_t* dims = nullptr;
    int64_t rank = 0;
    int32_t dtype = 0;
    std::string text;
  };
  std::array<Written, 64> written_;
  Stream scratch_;
  /// Nodes with several results that have been indexed, and the places of their values.
  std::unordered_set<const tmeter_node*> noted_;
  std::unordered_map<const tmeter_value*, int64_t> places_;
};

}  // namespace json_report
