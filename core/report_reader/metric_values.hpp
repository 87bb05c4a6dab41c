// Metrics and their values: of rows, of the model, of a sweep, and as formulas.
#pragma once
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_map>

#include "core/analysis/results.hpp"
#include "core/report_reader/document.hpp"
#include "core/symbolic/formulas.hpp"
#include "core/symbolic/sweep.hpp"

namespace tmeter::core::report_reader {

class MetricValues {
 public:
  /// Reads "metrics" into the columns of `results`.
  MetricValues(Document& document, Results& results);

  /// Reads the values of a row: "values" and the lists of their statuses.
  void row(const Members& row, int32_t axis, size_t index);
  void totals(Document& document);
  void coverage(Document& document);
  void sweep(Document& document, const Graph& graph, Sweep& sweep);
  void formulas(Document& document, const Graph& graph, Formulas& formulas);

  /// Index of a column. Throws Error(kModel) for an unknown id.
  size_t column(std::string_view id) const;
  size_t column_count() const { return results_.columns.size(); }

 private:
  /// Calls change(tmeter_number&) for a cell, which is created if necessary.
  template <class Change>
  void change(std::string_view metric, int32_t axis, size_t index, Change&& change);
  void take_cells(size_t count);

  Results& results_;
  std::unordered_map<std::string_view, size_t, TextHash> columns_;  // keys: ids in results_
  size_t cells_ = 0;
};

/// A number of a report; none for null.
tmeter_number value_of(const Item& value);
/// Applies a status of the schema. Unknown ones change nothing.
void mark(tmeter_number& cell, std::string_view status);

}  // namespace tmeter::core::report_reader
