// Which numbers make sense in an input of integers: what they choose from tells.
#include <algorithm>
#include <array>
#include <unordered_set>

#include "executor/inputs.hpp"
#include "operators/graph_values.hpp"

namespace tmeter::torch_backend {
namespace {

struct Lookup {
  std::string_view op, table, indices;
};

/// Operators that choose by index from their table's dim `dim` (its first when they have no such
/// argument).
constexpr std::array<Lookup, 8> kLookups{{{"aten::embedding", "weight", "indices"},
                                          {"aten::embedding_bag", "weight", "indices"},
                                          {"aten::_embedding_bag", "weight", "indices"},
                                          {"aten::_embedding_bag_forward_only", "weight", "indices"},
                                          {"aten::index_select", "self", "index"},
                                          {"aten::gather", "self", "index"},
                                          {"aten::index", "self", "indices"},
                                          {"aten::take_along_dim", "self", "indices"}}};

bool is_integer(const Value& value) {
  const auto type = static_cast<at::ScalarType>(value.dtype().id());
  return value.dtype().known() && at::isIntegralType(type, /*includeBool=*/false);
}

class Reach {
 public:
  explicit Reach(const Value& input) { reached_.insert(input.handle()); }

  void follow(const Node& node) {
    bool used = false;
    for (size_t i = 0; i < node.arg_count(); ++i) used = used || holds(node.arg(i));
    if (!used) return;
    for (const auto& lookup : kLookups) {
      if (lookup.op == node.op() && choose(node, lookup)) return;
    }
    for (size_t i = 0; i < node.result_count(); ++i) {
      for_each_tensor_value(node.result(i), [&](const Value& v) {
        if (is_integer(v)) reached_.insert(v.handle());
      });
    }
  }

  int64_t rows() const { return rows_; }

 private:
  bool holds(const Value& value) const {
    bool any = false;
    for_each_tensor_value(value, [&](const Value& v) { any = any || reached_.contains(v.handle()); });
    return any;
  }

  bool choose(const Node& node, const Lookup& lookup) {
    if (!holds(node.arg(lookup.indices))) return false;
    const auto table = node.arg(lookup.table).shape();
    if (lookup.op != "aten::index") {
      const auto dim = node.arg("dim").as_int(0);
      if (dim < table.rank() && dim >= -table.rank()) keep(table[dim]);
      return true;
    }
    const auto indices = node.arg(lookup.indices);
    for (size_t i = 0; i < indices.size() && static_cast<int64_t>(i) < table.rank(); ++i) {
      if (holds(indices[i])) keep(table[static_cast<int64_t>(i)]);
    }
    return true;
  }

  void keep(int64_t rows) { rows_ = rows_ == 0 ? rows : std::min(rows_, rows); }

  std::unordered_set<const tmeter_value*> reached_;
  int64_t rows_ = 0;
};

}  // namespace

int64_t vocabulary_of(const Graph& graph, const Value& input) {
  Reach reach(input);
  for (const auto& node : graph.nodes()) reach.follow(node);
  return reach.rows();
}

}  // namespace tmeter::torch_backend
