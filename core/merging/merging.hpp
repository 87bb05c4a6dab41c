// Several saved reports made one: of the shards of one checkpoint, or an index of many models.
#pragma once
#include <string>
#include <vector>

#include "core/saved/saved_report.hpp"

namespace tmeter::core {

/// A report and what messages call it: its path.
struct Part {
  std::string path;
  SavedReport saved;

  /// The file it is the report of; its own path where it does not tell.
  std::string model_file() const;
};

/// The report of a checkpoint from those of its shards, in any order.
///
/// Every tensor is in one shard, so its values are copied. Values of modules and the model are
/// rolled up again over all tensors, by their metric's aggregation, in the order in which the loader
/// of the whole checkpoint would list them. Sums, counts, minima and maxima equal
/// a run over the whole; means and moments differ in the last digits. Values that cannot be merged
/// (quantiles, a quantization plan) are unavailable, and the finding "merged" names them.
///
/// Throws Error(kModel): a report of a model with operators, a tensor in two shards, a shard that
/// is not there by the numbers in the files' names, shards analysed in different ways.
SavedReport merge_shards(std::vector<Part> parts);

/// A row for each model: a report whose modules are the models, with their totals. Reports are
/// added one after the other; only their totals are kept.
class ModelIndex {
 public:
  void add(const Part& part);
  size_t size() const { return rows_.size(); }
  /// The root's figures are sums (and largest values) over all models. Throws Error(kModel) when a
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
  std::vector<std::string> warnings_;
};

}  // namespace tmeter::core
