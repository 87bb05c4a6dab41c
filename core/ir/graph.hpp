// The graph: loaders produce it (through GraphBuilder), and everything else reads it.
//
// A recording: operators in execution order, control flow resolved. All objects live in the graph
// (stable addresses) and are read-only once built, except for `bind`, which re-evaluates the sizes
// of models with dynamic shapes. Reading is safe from any thread.
#pragma once
#include <tmeter/abi/base.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_set>
#include <vector>

#include "core/ir/arena.hpp"
#include "core/ir/call_index.hpp"
#include "core/ir/expressions.hpp"

namespace tmeter::core {

class Graph;
class MappedFile;
struct Module;
struct ModuleCall;
struct Node;
struct Tensor;

/// A tensor, scalar, text, list or none (TMETER_VALUE_…).
struct Value {
  int32_t kind = 0;
  int32_t dtype = -1;                        // TMETER_DTYPE_…
  bool defined = false;                      // may be used by a node
  uint8_t depth = 0;                         // of nested lists
  ExprId expr = 0;                           // of a symbolic int
  std::span<int64_t> dims;                   // tensors
  std::span<ExprId> dim_exprs;               // tensors with symbolic dims, else empty
  const Expressions* expressions = nullptr;  // of the graph, when dim_exprs is not empty
  int64_t i = 0;                             // int, bool, dtype
  double f = 0;             // float; for a list, the number of its values, inner lists included
  std::string_view text;    // text, other
  std::span<Value*> items;  // list
  const Tensor* tensor = nullptr;
  const Node* producer = nullptr;
};

struct Arg {
  std::string_view name;
  Value* value;
};

struct Node {
  size_t index = 0;
  std::string_view op, overload, location;
  std::string_view name;  // its name in the file; mostly empty
  std::span<Arg> args;
  std::span<Value*> results;
  ModuleCall* call = nullptr;

  std::string full_name() const {
    return overload.empty() ? std::string(op) : std::string(op) + "." + std::string(overload);
  }
};

/// Another stored tensor that belongs to an encoded one.
struct StoredPart {
  int32_t dtype = -1;
  std::string_view role, name;
  std::span<int64_t> dims;
  int64_t file_offset = -1, bytes = 0;
  const MappedFile* file = nullptr;  // null: the model file itself
};

/// How the elements of an encoded tensor are stored: sdk abi/storage.h.
struct Encoding {
  std::string_view id, parameters;
  int64_t block_elements = 0, block_bytes = 0;  // 0: unknown
  int32_t stored_dtype = 0;
  std::span<StoredPart> parts;
};

/// A fact that the file states: sdk abi/metadata.h. One of the lists has its values.
struct Metadata {
  std::string_view space, key;
  int32_t type = 0;  // TMETER_METADATA_…
  bool is_array = false;
  int64_t length = 1;
  std::span<tmeter_str> texts;
  std::span<int64_t> ints;
  std::span<double> floats;

  size_t count() const { return texts.size() + ints.size() + floats.size(); }
};

struct Tensor {
  size_t index = 0;
  int32_t kind = 0, dtype = -1;
  std::string_view name, storage_key;
  std::span<int64_t> dims, strides;
  int64_t numel = 0, storage_offset = 0, file_offset = -1, storage_bytes = 0;
  const MappedFile* file = nullptr;  // of the bytes; null: the model file itself
  bool trainable = false;
  const Encoding* encoding = nullptr;  // null: the elements are stored one by one
  Module* owner = nullptr;
  const Tensor* canonical = nullptr;  // first of a tied group, or itself
};

struct Module {
  size_t index = 0;  // in pre-order; the root is 0
  size_t depth = 0;
  std::string_view name, path, type;
  Module* parent = nullptr;
  std::vector<Module*> children;
  std::vector<Tensor*> tensors;
  std::vector<Arg> attributes;
  size_t calls = 0;
};

struct ModuleCall {
  size_t index = 0;
  Module* module = nullptr;
  ModuleCall* parent = nullptr;
  const Graph* graph = nullptr;
};

struct Input {
  std::string_view name, origin;
  Value* value;
  std::span<int64_t> requested;  // dims of the user's request that the loader could not provide
};

/// A condition on sizes under which the program was recorded.
struct Condition {
  ExprId expr = 0;        // not 0: the condition holds
  std::string_view text;  // the file's text; empty: use the expression
};

/// Ownership as columns of indices, for the passes over the whole graph for each metric. Nodes,
/// calls and modules themselves would be fetched from memory each time.
struct OwnershipColumns {
  static constexpr uint32_t kNone = ~uint32_t{0};
  std::vector<uint32_t> call_of_node;
  std::vector<uint32_t> module_of_call, parent_of_call;  // kNone: it has no parent
  std::vector<uint32_t> parent_of_module;                // kNone: the root
  std::vector<uint32_t> containers;                      // modules that are never called
  std::vector<uint32_t> owner_of_tensor, canonical_of_tensor;
  std::vector<uint32_t> tensors;  // by canonical tensor, in order
};

class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  std::string_view property(std::string_view key) const;
  const std::map<std::string, std::string, std::less<>>& properties() const { return properties_; }
  const std::pmr::deque<Metadata>& metadata() const { return metadata_; }
  /// Null when the file does not state it.
  const Metadata* find_metadata(std::string_view space, std::string_view key) const;
  const std::pmr::deque<Node>& nodes() const { return nodes_; }
  const std::vector<Module*>& modules() const { return preorder_; }
  const std::pmr::deque<ModuleCall>& calls() const { return calls_; }
  const std::pmr::deque<Tensor>& tensors() const { return tensors_; }
  const std::vector<Symbol>& symbols() const { return symbols_; }
  const Expressions& expressions() const { return expressions_; }
  const std::vector<Condition>& conditions() const { return conditions_; }
  /// Whether the condition holds for the present sizes.
  bool holds(const Condition& c) const { return expressions_.find_value(c.expr).value_or(0) != 0; }
  /// The first operator that refuses the present sizes of its arguments (size_demands.hpp); null if
  /// none does.
  const Node* node_with_unmet_demand() const;
  const std::vector<Input>& inputs() const { return inputs_; }
  const std::vector<Value*>& outputs() const { return outputs_; }
  const OwnershipColumns& ownership() const { return ownership_; }
  /// Nodes, inputs and outputs of a call; lives as long as the graph.
  const CallContents& contents(const ModuleCall& call) const;
  /// Whether the address is that of a node or tensor of this graph. Does not dereference foreign
  /// addresses, so it is safe for handles from a plugin.
  bool has(const Node* node) const { return is_in(nodes_, node); }
  bool has(const Tensor* tensor) const { return is_in(tensors_, tensor); }
  /// True when other dims are requested for an input: see propagator.h of the SDK.
  bool has_input_requests() const;

  /// Index of a symbol by its name ("s77") or its place ("input_ids.0"). Throws Error(kUsage)
  /// listing the existing symbols.
  size_t find_symbol(std::string_view name) const;
  /// Throws Error(kUsage) beginning with `option` ("--bind") unless the model takes the value.
  void require_in_range(size_t symbol, int64_t value, std::string_view option) const;
  /// Sets symbols, all at once, and re-evaluates every size. Throws as the two above, and
  /// Error(kModel) if sizes overflow.
  void bind(const std::vector<std::pair<std::string, int64_t>>& bindings);
  /// Notes whether the user gave the symbol's value, as `bind` does.
  void mark_given(size_t symbol, bool given) { symbols_[symbol].given = given; }
  /// One value per symbol, not checked against the ranges. Throws Error(kModel) if the values make
  /// a dimension invalid; nothing has changed then.
  void assign(std::span<const int64_t> values);

 private:
  friend class GraphBuilder;
  void evaluate();
  void set_values(std::span<const int64_t> values);
  void name_places();
  /// The shared copy of a string: equal strings have equal addresses.
  std::string_view intern(std::string_view text);
  /// A copy of a text that is not shared.
  std::string_view keep(std::string_view text);

  template <class T>
  bool is_in(const std::pmr::deque<T>& things, const T* thing) const {
    return arena_.owns(thing, sizeof(T)) && thing->index < things.size() &&
           &things[thing->index] == thing;
  }

  Arena arena_;
  std::pmr::unordered_set<std::string_view, TextHash> strings_{&arena_};
  std::map<std::string, std::string, std::less<>> properties_;
  std::pmr::deque<Encoding> encodings_{&arena_};
  std::pmr::deque<Metadata> metadata_{&arena_};
  std::map<std::pair<std::string_view, std::string_view>, const Metadata*> metadata_index_;
  std::pmr::deque<Value> values_{&arena_};
  std::pmr::deque<Node> nodes_{&arena_};
  std::pmr::deque<Module> modules_{&arena_};
  std::vector<Module*> preorder_;
  std::pmr::deque<ModuleCall> calls_{&arena_};
  std::pmr::deque<Tensor> tensors_{&arena_};
  std::vector<Symbol> symbols_;
  Expressions expressions_;
  std::vector<Condition> conditions_;
  std::vector<const Node*> nodes_with_size_demands_;  // has_size_demands
  std::vector<Input> inputs_;
  std::vector<Value*> outputs_;
  OwnershipColumns ownership_;
  mutable std::once_flag indexed_;
  mutable std::unique_ptr<const CallIndex> call_index_;  // made when it is first needed
};

}  // namespace tmeter::core
