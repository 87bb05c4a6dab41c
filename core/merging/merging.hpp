// Merges saved reports: of a checkpoint's shards into one report, or of many models into an
// index.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "core/report_reader/saved_report.hpp"

namespace tmeter::core {

/// A report, and its path for messages.
struct Part {
  std::string path;
  SavedReport saved;

  /// The model file of the report; the path of the report if it does not name one.
  std::string model_file() const;
};

/// The report of a checkpoint from those of its shards, in any order.
///
/// Every tensor is in one shard, so its values are copied. Values of modules and the model are
/// rolled up again over all tensors, by their metric's aggregation, in the order in which the
/// loader of the whole checkpoint would list them. Sums, counts, minima and maxima equal a run over
/// the whole; means and moments differ in the last digits. Values that cannot be merged (quantiles,
/// a quantization plan) are unavailable, and the finding "merged" names them.
///
/// Throws Error(kModel) for a report of a model with operators, a tensor in two shards, a shard
/// that is missing according to the numbers in file names, and shards analysed in different ways.
SavedReport merge_shards(std::vector<Part> parts);

/// A report whose modules are models, one row each, with their totals. Reports are added one after
/// the other; only their totals are kept.
class ModelIndex {
 public:
  void add(const Part& part);
  size_t size() const { return rows_.size(); }
  /// The root's values are sums (or maxima) over all models. Throws Error(kModel) when a
  /// sum exceeds 2^63.
  SavedReport finish();

 private:
  struct Row {
    std::string name, type;
    std::vector<tmeter_number> totals;  // by column
  };
  size_t column_for(const Column& column, const std::string& path);

  std::vector<Column> columns_;
  std::vector<Row> rows_;
  std::vector<std::pair<std::string, std::string>> plugins_;
  std::set<std::pair<std::string, std::string>> known_plugins_;  // of plugins_
  std::vector<std::string> warnings_;
};

}  // namespace tmeter::core
