// The graph of a saved report: symbols, modules, calls, tensors, inputs, operators, outputs – built
// by the builder that loaders use, which refuses invalid graphs as it does for models.
#pragma once
#include <memory>
#include <tmeter/cpp/text_hash.hpp>

#include "core/module_description/module_description.hpp"
#include "core/report_reader/graph_values.hpp"
#include "core/report_reader/metric_values.hpp"

namespace tmeter::core::report_reader {

class GraphRows {
 public:
  GraphRows(Document& document, MetricValues& metric_values)
      : document_(document), metric_values_(metric_values), graph_values_(builder_) {}

  std::unique_ptr<Graph> read();
  /// The descriptions that the rows of modules hold.
  ModuleDescriptions take_descriptions() { return std::move(descriptions_); }

 private:
  using Id = GraphBuilder::Id;
  void properties();
  void symbols();
  void metadata();
  void modules();
  void module(size_t index, const Members& m);
  void enter(size_t index, const Members& m);
  void texts(const Members& m);
  void attributes(Id module, const Members& m);
  void module_calls();
  void guess_module_calls();
  void tensors();
  void encoding(const Members& m, TensorSpec& spec,
                std::vector<std::vector<int64_t>>& shapes) const;
  void tensor(size_t index, const Members& m);
  void inputs();
  void nodes();
  void node(size_t index, const Members& m);
  Id call_of(const Members& m);
  void outputs();
  void check_repeats(const Graph& graph) const;

  Document& document_;
  MetricValues& metric_values_;
  GraphBuilder builder_;
  GraphValues graph_values_;
  ModuleDescriptions descriptions_;
  struct Level {
    std::string id;
    size_t index;
    size_t children;
  };
  std::vector<Level> branch_;  // from the root to the module read last
  std::vector<size_t> calls_;  // by module: the number of calls that its row states
  std::vector<size_t> parents_;
  std::unordered_map<std::string, Id, TextHash> paths_;
  std::map<std::pair<size_t, size_t>, Id> nth_calls_;  // (module, from 1) → call
  size_t call_count_ = 0;
};

}  // namespace tmeter::core::report_reader
