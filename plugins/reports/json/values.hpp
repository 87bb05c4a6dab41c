// Cells, shapes and values of the graph as JSON.
#pragma once
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "../common/figures.hpp"
#include "stream.hpp"

namespace json_report {

/// Of `reports::status_of`.
inline constexpr size_t kStatusCount = 8;

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
  /// Whether a module handler gave one of its figures.
  bool any_by_module(int32_t axis, size_t index) const;
  bool any_stated_of(int32_t axis) const;

 private:
  static constexpr size_t kAxes = 5;  // TMETER_AXIS_…
  /// Figures that a row had, and what was written of them.
  struct Written {
    int32_t axis = 0;
    std::vector<tmeter_number> cells;
    std::string text;
  };
  static constexpr size_t kKept = 256;

  const std::vector<size_t>& metrics_of(int32_t axis) const {
    return of_axis_[static_cast<size_t>(axis)];
  }
  void write_cells(Stream& stream, int32_t axis, const std::vector<tmeter_number>& cells);
  void mark(size_t what, size_t metric);
  void write_marks(Stream& stream);

  const tmeter::Report& report_;
  std::vector<tmeter::Metric> metrics_;
  std::vector<std::string> keys_;                   // their ids as keys
  std::array<std::vector<size_t>, kAxes> of_axis_;  // those that may have figures there
  std::vector<tmeter_number> cells_;                // of the row being written
  Stream scratch_;
  /// Of the row being written: by status, the last by module, which metrics are marked.
  std::array<std::vector<size_t>, kStatusCount + 1> marked_;  // and what modules give as a whole
  bool any_marked_ = false;
  /// Layers repeat, and with them the figures of their operators and tensors: the last ones, each
  /// at a place that follows from them.
  std::vector<Written> written_{kKept};
};

void write_shape(Stream& stream, const tmeter::Shape& shape);

/// Arguments, results, attributes. Tensors become objects with "dtype", "shape", with symbols
/// "symbolic_shape", and where they are from: "node" (index) and "result" (which of what it makes),
/// "tensor" (name) or "input" (name). Everything else becomes what JSON has for it.
class ValueWriter {
 public:
  explicit ValueWriter(const tmeter::Graph& graph);
  void write(Stream& stream, const tmeter::Value& value, bool with_origin);

  /// The members of a tensor, of an object that is open.
  void write_members(Stream& stream, const tmeter::Value& tensor, bool with_origin);

  /// What the JSON of a value does not tell: of a scalar "kind" and, with origin, "node" and
  /// "result"; of a list such details of its items. Null when there is nothing.
  Json detail(const tmeter::Value& value, bool with_origin);

 private:
  void write_size(Stream& stream, const tmeter::Value& tensor);
  void write_origin(Stream& stream, const tmeter::Value& value);
  /// Which of what its node makes, lists taken apart; 0: the first.
  int64_t place_of(const tmeter::Value& value, const tmeter::Node& producer);
  void note_places(const tmeter::Node& producer);
  void write_list(Stream& stream, const tmeter::Value& value, bool with_origin);
  Json list_detail(const tmeter::Value& value, bool with_origin);
  bool any_symbols_;
  std::unordered_map<const tmeter_value*, std::string> inputs_;
  /// What was written of a type and a size that is at this place in memory: many tensors share
  /// them.
  struct Written {
    const int64_t* dims = nullptr;
    int64_t rank = 0;
    int32_t dtype = 0;
    std::string text;
  };
  std::array<Written, 64> written_;
  Stream scratch_;
  /// Of the nodes that make several values and were asked about: these nodes, and the values'
  /// places.
  std::unordered_set<const tmeter_node*> noted_;
  std::unordered_map<const tmeter_value*, int64_t> places_;
};

}  // namespace json_report
