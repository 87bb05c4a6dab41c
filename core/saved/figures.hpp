// Metrics and their figures: of rows, of the model, of a sweep, and as formulas.
#pragma once
#include <unordered_map>

#include "core/analysis/results.hpp"
#include "core/base/text_hash.hpp"
#include "core/saved/document.hpp"
#include "core/symbolic/formulas.hpp"
#include "core/symbolic/sweep.hpp"

namespace tmeter::core::saved {

class Figures {
 public:
  /// Reads "metrics" into the columns of `results`.
  Figures(Document& document, Results& results);

  /// What stands in a row: "values" and the lists that say what the values are besides numbers.
  void row(const Members& row, int32_t axis, size_t index);
  void totals(Document& document);
  void coverage(Document& document);
  void sweep(Document& document, const Graph& graph, Sweep& sweep);
  void formulas(Document& document, const Graph& graph, Formulas& formulas);

  /// Index of a column. Throws Error(kModel) when there is none of this id.
  size_t column(std::string_view id) const;
  size_t column_count() const { return results_.columns.size(); }

 private:
  /// change(tmeter_number&) of a cell, which is made when it is not there.
  template <class Change>
  void change(std::string_view metric, int32_t axis, size_t index, Change&& change);
  void take_cells(size_t count);

  Results& results_;
  std::unordered_map<std::string_view, size_t, TextHash> columns_;  // keys: ids in results_
  size_t cells_ = 0;
};

/// A number of a report; none for null.
tmeter_number figure_of(const Item& value);
/// What it is besides: a status of the schema. Others change nothing.
void mark(tmeter_number& figure, std::string_view status);

}  // namespace tmeter::core::saved
