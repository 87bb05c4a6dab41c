// Builds a graph from the calls of a loader and refuses invalid ones: the C++ side of
// sdk abi/builder.h, which documents every function. Ids count from 1; 0 means no item.
// All functions throw Error(kModel) naming the offending item.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <tmeter/cpp/natural_order.hpp>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_map>
#include <vector>

#include "core/ir/graph.hpp"

namespace tmeter::core {

// An index of the names in a list: eight bytes per name; the list keeps the texts.

/// A table with open addresses, at most half full. Names that come in natural order differ, and
/// need none.
class NameIndex {
 public:
  /// Adds the name at `place` of the list; false if an earlier place has it. `at(place)` is the
  /// name at a place. Empty names may be left out, others may not.
  template <class At>
  bool insert(std::string_view name, size_t place, const At& at) {
    if (slots_.empty()) {
      if (!name.empty() && (!last_ || natural_less(at(*last_), name))) {
        if (!last_) first_ = place;
        last_ = place;
        return true;
      }
      for (size_t i = first_; last_ && i <= *last_; ++i)
        if (!at(i).empty()) add(at(i), i, at);
    }
    return add(name, place, at);
  }

 private:
  template <class At>
  bool add(std::string_view name, size_t place, const At& at) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    const auto hash = static_cast<uint32_t>(TextHash()(name));
    auto i = hash & (slots_.size() - 1);
    for (; slots_[i].place != kNone; i = (i + 1) & (slots_.size() - 1))
      if (slots_[i].hash == hash && at(slots_[i].place) == name) return false;
    slots_[i] = {hash, static_cast<uint32_t>(place)};
    ++count_;
    return true;
  }

  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  struct Slot {
    uint32_t hash = 0, place = kNone;
  };

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const auto& slot : old) {
      if (slot.place == kNone) continue;
      auto i = slot.hash & (slots_.size() - 1);
      while (slots_[i].place != kNone) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;  // empty while names come in natural order
  size_t first_ = 0, count_ = 0;
  std::optional<size_t> last_;
};

struct DimSpec {
  int64_t value = 0;
  ExprId expr = 0;
};

struct PartSpec {
  int32_t dtype = -1;
  std::string_view role, name;
  std::span<const int64_t> dims;
  int64_t file_offset = -1, bytes = 0;
  const MappedFile* file = nullptr;
};

struct EncodingSpec {
  std::string_view id, parameters;
  int64_t block_elements = 0, block_bytes = 0;
  int32_t stored_dtype = 0;
  std::vector<PartSpec> parts;
};

/// One of the lists has the values.
struct MetadataSpec {
  std::string_view space, key;
  int32_t type = 0;
  bool is_array = false;
  int64_t length = 1;
  std::span<const tmeter_str> texts;
  std::span<const int64_t> ints;
  std::span<const double> floats;
};

struct TensorSpec {
  int32_t kind = 0, dtype = -1;
  std::string_view name, storage_key;
  uint32_t owner = 0;
  std::span<const int64_t> dims;
  std::optional<std::span<const int64_t>> strides;  // none: contiguous
  int64_t storage_offset = 0, file_offset = -1, storage_bytes = 0;
  const MappedFile* file = nullptr;
  bool trainable = false;
  std::optional<EncodingSpec> encoding{};
};

/// Copies a tensor of another graph, except for its owner.
TensorSpec spec_of(const Tensor& tensor);

class GraphBuilder {
 public:
  using Id = uint32_t;

  GraphBuilder() : graph_(std::make_unique<Graph>()) {}
  /// Copies everything from `frame` that does not depend on inputs: properties, modules, their
  /// calls, tensors. The id of each is its index in `frame` plus one.
  explicit GraphBuilder(const Graph& frame);

  /// Copies properties and metadata.
  void take_facts_of(const Graph& graph);
  /// Copies symbols, expressions and conditions; their ids stay. To be called before others are
  /// added.
  void take_sizes_of(const Graph& graph);

  void property(std::string_view key, std::string_view value);
  void metadata(const MetadataSpec& spec);
  std::string_view property_of(std::string_view key) const { return graph_->property(key); }
  Id symbol(std::string_view name, int64_t min, int64_t max, int64_t value);
  Id expr_int(int64_t value) { return graph_->expressions_.add_int(value); }
  Id expr_symbol(Id symbol);
  Id expr_text(std::string_view text, int64_t value) {
    return graph_->expressions_.add_text(std::string(text), value);
  }
  Id expr(int32_t op, const std::vector<Id>& operands) {
    return graph_->expressions_.add(op, operands);
  }
  void condition(Id expr, std::string_view text);

  Id module(Id parent, std::string_view name, std::string_view type);
  /// Sets the type of a module that was created without one.
  void module_type(Id module, std::string_view type) {
    module_at(module, "a type").type = graph_->intern(type);
  }
  void module_attribute(Id module, std::string_view name, Id value);
  Id module_call(Id module, Id parent);
  Id tensor(const TensorSpec& spec);

  Id value_none();
  Id value_tensor(int32_t dtype, std::span<const DimSpec> dims);
  /// A tensor without a producing node before its use: part of an input, or a tensor that a
  /// later node writes into and returns.
  Id value_from_outside(int32_t dtype, std::span<const DimSpec> dims);
  Id value_bound(Id tensor);
  Id value_int(DimSpec value);
  Id value_float(double value);
  Id value_bool(bool value);
  Id value_text(std::string_view value);
  Id value_dtype(int32_t dtype);
  Id value_other(std::string_view text);
  Id value_list(std::span<const Id> items);

  void input(std::string_view name, std::string_view origin, Id value);
  /// Requests another shape for an input, which must be a tensor of the same rank.
  void want_input(std::string_view name, std::span<const int64_t> dims);
  void output(Id value);
  Id node(std::string_view op, std::string_view overload, Id call,
          std::span<const std::pair<std::string_view, Id>> args, std::span<const Id> results,
          std::string_view location);
  void node_name(Id node, std::string_view name);

  /// The value of this id; null for an unknown id.
  const Value* peek(Id id) const {
    return id < 1 || id > graph_->values_.size() ? nullptr : &graph_->values_[id - 1];
  }

  /// Whether a root module was pushed.
  bool has_root() const { return !graph_->modules_.empty(); }
  /// Orders modules, evaluates sizes and returns the graph. A model without modules gets a root.
  std::unique_ptr<Graph> finish();

 private:
  Value& new_value(int32_t kind, bool defined);
  Id copy_value(const Value& value);
  Id last_value() const { return static_cast<Id>(graph_->values_.size()); }
  Value& value(Id id, const char* what);
  Module& module_at(Id id, const char* what);
  std::string_view path_of(const Module& parent, std::string_view name);
  void count_name(size_t bytes);
  const Encoding* encoding(const TensorSpec& spec, int64_t numel);
  void define(Value& value, const Node* producer);
  void require_defined(Value& value, std::string_view op, std::string_view arg) const;
  void number_preorder();
  void fill_ownership();
  /// Copies into the graph's arena.
  template <class T>
  std::span<std::remove_const_t<T>> copy(std::span<T> items);
  template <class T>
  std::span<T> room(size_t count);
  template <class What>
  std::span<int64_t> contiguous_strides(std::span<const int64_t> dims, const What& what);

  std::unique_ptr<Graph> graph_;
  size_t name_bytes_ = 0;  // of module paths and tensor names
  size_t attributes_ = 0;  // of all modules
  size_t metadata_values_ = 0, metadata_bytes_ = 0;
  std::unordered_map<std::string, const Tensor*, TextHash> tied_;
  NameIndex tensor_names_, module_paths_;
};

template <class T>
std::span<std::remove_const_t<T>> GraphBuilder::copy(std::span<T> items) {
  if (items.empty()) return {};
  auto* p =
      static_cast<std::remove_const_t<T>*>(graph_->arena_.allocate(items.size_bytes(), alignof(T)));
  std::copy(items.begin(), items.end(), p);
  return {p, items.size()};
}

template <class T>
std::span<T> GraphBuilder::room(size_t count) {
  if (count == 0) return {};
  auto* p = static_cast<T*>(graph_->arena_.allocate(count * sizeof(T), alignof(T)));
  std::uninitialized_value_construct_n(p, count);
  return {p, count};
}

}  // namespace tmeter::core
