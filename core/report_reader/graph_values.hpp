// Inputs, arguments, results, attributes: turns JSON values into values of a graph.
#pragma once
#include <map>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_map>
#include <vector>

#include "core/ir/builder.hpp"
#include "core/report_reader/json_value.hpp"

namespace tmeter::core::report_reader {

class GraphValues {
 public:
  using Id = GraphBuilder::Id;
  explicit GraphValues(GraphBuilder& builder) : builder_(builder) {}

  void add_symbol(std::string_view name, Id symbol, int64_t value);
  void add_tensor(std::string_view name, Id tensor);
  void add_input(std::string_view name, Id value);

  /// Looks up the origin of a used value. `detail`: the properties that the plain value
  /// does not show (schema: "value_detail"), or null.
  Id used(const Item& value, const Item* detail);
  /// Creates a value: an input, an attribute.
  Id fresh(const Item& value, const Item* detail);
  /// The results of the next node, in order.
  std::vector<Id> results(const Item& list, const Item* details);
  /// Throws Error(kModel) if a value names an origin that does not make it.
  void require_all_produced() const;

  std::vector<int64_t> shape(const Item& list) const;
  size_t node_count() const { return first_leaf_.size(); }

 private:
  Id read(const Item& value, const Item* detail, bool look_up, size_t depth);
  Id read_list(const Item& value, const Item* detail, bool look_up, size_t depth);
  Id scalar(const Item& value, std::string_view kind);
  Id tensor(const Members& m, bool look_up);
  Id result(const Item& value, const Item* detail, size_t& leaf, size_t depth);
  Id result_of_node(const Members& from, const std::vector<DimSpec>* dims, int32_t dtype,
                    const Item& plain, std::string_view kind);
  std::vector<DimSpec> dims(const Members& m);
  DimSpec symbolic_dim(std::string_view text, int64_t size);
  bool is_tensor(Id id, int32_t dtype, const std::vector<DimSpec>& dims) const;
  bool is_scalar(Id id, const Item& plain) const;

  GraphBuilder& builder_;
  struct KnownSymbol {
    Id expression;
    int64_t value;
  };
  std::unordered_map<std::string, KnownSymbol, TextHash> symbols_;
  std::map<std::pair<std::string, int64_t>, Id> texts_;  // expressions known by text and value
  std::unordered_map<std::string, Id, TextHash> tensors_, inputs_;
  std::vector<size_t> first_leaf_;  // by node: start of its results in leaves_
  std::vector<Id> leaves_;          // the values in results, lists flattened
  // Values whose stated producer is the current node or a later one, which writes into them.
  std::map<std::pair<size_t, size_t>, Id> pending_results_;
};

}  // namespace tmeter::core::report_reader
