// The graph for plugin authors: Node, Value, Shape, Module, Tensor, Graph.
//
// All are two words wide, cheap to copy, and valid as long as the graph. Nothing here allocates.
#pragma once
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "count.hpp"
#include "dtype.hpp"

TMETER_SDK_BEGIN

class Node;
class Module;
class Tensor;

/// The dims of a tensor: concrete integers under the current binding.
class Shape {
 public:
  constexpr Shape() = default;
  explicit Shape(tmeter_i64_span s) : ptr_(s.ptr), len_(s.len) {}
  const int64_t* begin() const { return ptr_; }
  const int64_t* end() const { return ptr_ + len_; }
  int64_t rank() const { return static_cast<int64_t>(len_); }
  bool empty() const { return len_ == 0; }
  /// Negative indices count from the end, as in Python. Throws when out of range.
  int64_t operator[](int64_t i) const {
    const int64_t k = i < 0 ? i + rank() : i;
    if (k < 0 || k >= rank())
      detail::raise(Error(TMETER_BAD_MODEL, "dim " + std::to_string(i) + " of a tensor of rank " +
                                                std::to_string(rank())));
    return ptr_[k];
  }
  int64_t front() const { return (*this)[0]; }
  int64_t back() const { return (*this)[-1]; }
  /// Product of the dims; 1 for a scalar.
  Count numel() const { return product(0, rank()); }
  /// Product of dims [from, to).
  Count product(int64_t from, int64_t to) const {
    Count n = 1;
    for (int64_t i = from; i < to; ++i) n *= (*this)[i];
    return n;
  }

 private:
  const int64_t* ptr_ = nullptr;
  size_t len_ = 0;
};

/// A tensor, scalar, text, list or none. A missing argument reads as none.
class Value {
 public:
  explicit Value(const tmeter_value* h = nullptr) : h_(h) {}
  const tmeter_value* handle() const { return h_; }
  int32_t kind() const {
    return h_ ? detail::graph_api().value_kind(h_) : int32_t{TMETER_VALUE_NONE};
  }
  bool is_none() const { return kind() == TMETER_VALUE_NONE; }
  bool is_tensor() const { return kind() == TMETER_VALUE_TENSOR; }
  bool is_list() const { return kind() == TMETER_VALUE_LIST; }

  // Tensors.
  Shape shape() const { return h_ ? Shape(detail::graph_api().value_dims(h_)) : Shape(); }
  DType dtype() const {
    return DType(h_ ? detail::graph_api().value_dtype(h_) : int32_t{TMETER_DTYPE_UNDEFINED});
  }
  Count numel() const { return is_tensor() ? shape().numel() : Count(0); }
  /// Bytes of the elements; for a stored tensor, Tensor::bytes gives the stored size.
  Count bytes() const;
  std::string_view dim_text(int64_t i) const {
    return h_ ? to_view(detail::graph_api().value_dim_text(h_, static_cast<size_t>(i)))
              : std::string_view();
  }
  Tensor tensor() const;  ///< the parameter, buffer or constant behind it, if any
  Node producer() const;  ///< the node that made it, if any

  // Scalars; `fallback` for other values.
  int64_t as_int(int64_t fallback = 0) const {
    return is_none() ? fallback : detail::graph_api().value_int(h_);
  }
  double as_float(double fallback = 0) const {
    return is_none() ? fallback : detail::graph_api().value_float(h_);
  }
  bool as_bool(bool fallback = false) const {
    return is_none() ? fallback : detail::graph_api().value_int(h_) != 0;
  }
  std::string_view text() const {
    return h_ ? to_view(detail::graph_api().value_text(h_)) : std::string_view();
  }

  // Lists.
  size_t size() const { return h_ ? detail::graph_api().value_size(h_) : 0; }
  Value operator[](size_t i) const {
    return Value(h_ ? detail::graph_api().value_at(h_, i) : nullptr);
  }

 private:
  const tmeter_value* h_;
};

/// Another stored tensor that belongs to an encoded one; abi/storage.h.
class StoredPart {
 public:
  explicit StoredPart(const tmeter_stored_part& p) : p_(p) {}
  std::string_view role() const { return to_view(p_.role); }
  std::string_view name() const { return to_view(p_.name); }
  DType dtype() const { return DType(p_.dtype); }
  Shape shape() const { return Shape({p_.dims, p_.rank}); }
  int64_t file_offset() const { return p_.file_offset; }
  int64_t bytes() const { return p_.bytes; }

 private:
  tmeter_stored_part p_;
};

class Tensor {
 public:
  explicit Tensor(const tmeter_tensor* h = nullptr) : h_(h) {}
  explicit operator bool() const { return h_ != nullptr; }
  const tmeter_tensor* handle() const { return h_; }
  size_t index() const { return detail::graph_api().tensor_index(h_); }
  std::string_view name() const { return to_view(detail::graph_api().tensor_name(h_)); }
  int32_t kind() const { return detail::graph_api().tensor_kind(h_); }
  bool is_parameter() const { return kind() == TMETER_TENSOR_PARAMETER; }
  bool is_buffer() const { return kind() == TMETER_TENSOR_BUFFER; }
  bool trainable() const { return detail::graph_api().tensor_trainable(h_) != 0; }
  DType dtype() const { return DType(detail::graph_api().tensor_dtype(h_)); }
  Shape shape() const { return Shape(detail::graph_api().tensor_dims(h_)); }
  Shape strides() const { return Shape(detail::graph_api().tensor_strides(h_)); }  // elements
  Count numel() const { return detail::graph_api().tensor_numel(h_); }
  /// Stored bytes; an encoded tensor includes its scales and other parts. Unknown sizes count as 0.
  Count bytes() const {
    if (!TMETER_IS_SET(&detail::graph_api(), tmeter_graph_api, tensor_stored_bytes))
      return numel() * dtype().bytes();
    return std::max<int64_t>(detail::graph_api().tensor_stored_bytes(h_), 0);
  }
  /// All members are empty on a host that does not support encodings.
  tmeter_tensor_storage storage() const {
    tmeter_tensor_storage s{};
    s.struct_size = sizeof s;
    if (TMETER_IS_SET(&detail::graph_api(), tmeter_graph_api, tensor_storage))
      check(detail::graph_api().tensor_storage(h_, &s));
    return s;
  }
  /// Nothing: unknown.
  std::optional<Count> stored_bytes() const {
    const auto& api = detail::graph_api();
    if (TMETER_IS_SET(&api, tmeter_graph_api, tensor_stored_bytes)) {
      const auto bytes = api.tensor_stored_bytes(h_);
      const bool known = bytes >= 0 && (dtype().known() || numel() == Count(0));
      return known ? std::optional<Count>(bytes) : std::nullopt;
    }
    return dtype().known() ? std::optional(numel() * dtype().bytes()) : std::nullopt;
  }
  /// The type in reports: the encoding, "gptq", or the dtype, "float32".
  std::string_view type_name() const {
    const auto id = encoding();
    return id.empty() ? dtype().name() : id;
  }
  /// "ggml.q4_k"; empty if its elements are stored one by one.
  std::string_view encoding() const { return to_view(storage().encoding); }
  bool is_encoded() const { return !encoding().empty(); }
  StoredPart part(uint32_t i) const {
    tmeter_stored_part p{};
    p.struct_size = sizeof p;
    check(detail::graph_api().tensor_part_at(h_, i, &p));
    return StoredPart(p);
  }
  Module owner() const;
  /// The first tensor of a tied group; itself when not tied.
  Tensor canonical() const { return Tensor(detail::graph_api().tensor_canonical(h_)); }
  bool is_tied() const { return canonical().handle() != h_; }
  /// Offset of its first element in bytes; -1: the file does not have its elements.
  int64_t file_offset() const { return detail::graph_api().tensor_file_offset(h_); }

 private:
  const tmeter_tensor* h_;
};

class Module {
 public:
  explicit Module(const tmeter_module* h = nullptr) : h_(h) {}
  explicit operator bool() const { return h_ != nullptr; }
  const tmeter_module* handle() const { return h_; }
  size_t index() const { return detail::graph_api().module_index(h_); }
  std::string_view name() const { return to_view(detail::graph_api().module_name(h_)); }
  std::string_view path() const { return to_view(detail::graph_api().module_path(h_)); }
  /// "torch.nn.modules.conv.Conv2d"
  std::string_view qualified_type() const { return to_view(detail::graph_api().module_type(h_)); }
  /// "Conv2d"
  std::string_view type() const {
    const auto t = qualified_type();
    const auto dot = t.rfind('.');
    return dot == std::string_view::npos ? t : t.substr(dot + 1);
  }
  Module parent() const { return Module(detail::graph_api().module_parent(h_)); }
  size_t child_count() const { return detail::graph_api().module_child_count(h_); }
  Module child(size_t i) const { return Module(detail::graph_api().module_child(h_, i)); }
  size_t calls() const { return detail::graph_api().module_calls(h_); }
  size_t tensor_count() const { return detail::graph_api().module_tensor_count(h_); }
  Tensor tensor(size_t i) const { return Tensor(detail::graph_api().module_tensor(h_, i)); }
  size_t attribute_count() const { return detail::graph_api().module_attribute_count(h_); }
  std::string_view attribute_name(size_t i) const {
    return to_view(detail::graph_api().module_attribute_name(h_, i));
  }
  Value attribute(size_t i) const { return Value(detail::graph_api().module_attribute(h_, i)); }

 private:
  const tmeter_module* h_;
};

/// A list of nodes or values; lives as long as the graph.
template <class Item, class Span>
class HandleRange {
 public:
  explicit HandleRange(Span span = {}) : span_(span) {}
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Item;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Item;
    explicit iterator(decltype(Span::ptr) at) : at_(at) {}
    Item operator*() const { return Item(*at_); }
    iterator& operator++() { return ++at_, *this; }
    bool operator==(const iterator& o) const { return at_ == o.at_; }
    bool operator!=(const iterator& o) const { return at_ != o.at_; }

   private:
    decltype(Span::ptr) at_;
  };
  iterator begin() const { return iterator(span_.ptr); }
  iterator end() const { return iterator(span_.ptr + span_.len); }
  size_t size() const { return span_.len; }
  bool empty() const { return span_.len == 0; }
  Item operator[](size_t i) const { return Item(span_.ptr[i]); }

 private:
  Span span_;
};

class ModuleCall {
 public:
  using Nodes = HandleRange<Node, tmeter_node_span>;
  using Values = HandleRange<Value, tmeter_value_span>;
  explicit ModuleCall(const tmeter_module_call* h = nullptr) : h_(h) {}
  explicit operator bool() const { return h_ != nullptr; }
  const tmeter_module_call* handle() const { return h_; }
  size_t index() const { return detail::graph_api().module_call_index(h_); }
  Module module() const { return Module(detail::graph_api().module_call_module(h_)); }
  ModuleCall parent() const { return ModuleCall(detail::graph_api().module_call_parent(h_)); }
  /// All nodes inside, including those of inner calls, in execution order.
  Nodes nodes() const { return Nodes(detail::graph_api().module_call_nodes(h_)); }
  /// Tensors from outside that are used inside, without parameters, in the order of their first
  /// use.
  Values inputs() const { return Values(detail::graph_api().module_call_inputs(h_)); }
  /// Tensors made inside that are used outside, in the order of their making.
  Values outputs() const { return Values(detail::graph_api().module_call_outputs(h_)); }

 private:
  const tmeter_module_call* h_;
};

class Node {
 public:
  explicit Node(const tmeter_node* h = nullptr) : h_(h) {}
  explicit operator bool() const { return h_ != nullptr; }
  const tmeter_node* handle() const { return h_; }
  size_t index() const { return detail::graph_api().node_index(h_); }
  std::string_view op() const { return to_view(detail::graph_api().node_op(h_)); }
  std::string_view overload() const { return to_view(detail::graph_api().node_overload(h_)); }
  std::string_view location() const { return to_view(detail::graph_api().node_location(h_)); }
  /// Its name in the file, "conv2d_1"; may be empty.
  std::string_view name() const { return to_view(detail::graph_api().node_name(h_)); }
  ModuleCall call() const { return ModuleCall(detail::graph_api().node_module_call(h_)); }

  size_t arg_count() const { return detail::graph_api().node_arg_count(h_); }
  std::string_view arg_name(size_t i) const {
    return to_view(detail::graph_api().node_arg_name(h_, i));
  }
  Value arg(size_t i) const { return Value(detail::graph_api().node_arg(h_, i)); }
  /// By schema name; none: the node has no such argument.
  Value arg(std::string_view name) const {
    return Value(detail::graph_api().node_find_arg(h_, to_abi(name)));
  }
  /// A mandatory tensor argument. A name that the node does not have is the plugin's
  /// error; an argument of another kind is the model's.
  Value input(std::string_view name) const {
    const Value v = arg(name);
    if (!v.handle()) detail::raise(Error(TMETER_INTERNAL, no_argument(name)));
    return tensor_or_throw(v, name);
  }

  size_t result_count() const { return detail::graph_api().node_result_count(h_); }
  Value result(size_t i) const { return Value(detail::graph_api().node_result(h_, i)); }
  /// The i-th result, which must be a tensor.
  Value output(size_t i = 0) const {
    const auto what = "result " + std::to_string(i);
    if (i >= result_count())
      detail::raise(Error(TMETER_INTERNAL, std::string(op()) + " has no " + what));
    return tensor_or_throw(result(i), what);
  }

 private:
  std::string no_argument(std::string_view name) const {
    auto text = std::string(op()) + " has no argument '" + std::string(name) + "'; it has";
    for (size_t i = 0; i < arg_count(); ++i) text += (i ? ", " : " ") + std::string(arg_name(i));
    return arg_count() ? text : text + " none";
  }
  Value tensor_or_throw(Value v, std::string_view what) const {
    if (!v.is_tensor())
      detail::raise(
          Error(TMETER_BAD_MODEL, std::string(op()) + " has no tensor " + std::string(what)));
    return v;
  }
  const tmeter_node* h_;
};

inline Count Value::bytes() const {
  const auto stored = tensor();
  return stored ? stored.bytes() : numel() * dtype().bytes();
}
inline Tensor Value::tensor() const {
  return Tensor(h_ ? detail::graph_api().value_tensor(h_) : nullptr);
}
inline Node Value::producer() const {
  return Node(h_ ? detail::graph_api().value_producer(h_) : nullptr);
}
inline Module Tensor::owner() const { return Module(detail::graph_api().tensor_owner(h_)); }

/// A fact from the file; lives as long as the graph.
class Metadata {
 public:
  explicit Metadata(const tmeter_metadata& m) : m_(m) {}
  const tmeter_metadata& abi() const { return m_; }
  std::string_view space() const { return to_view(m_.space); }
  std::string_view key() const { return to_view(m_.key); }
  int32_t type() const { return m_.type; }  ///< TMETER_METADATA_…
  bool is_array() const { return m_.is_array != 0; }
  uint32_t size() const { return m_.count; }
  int64_t length() const { return m_.length; }  ///< in the file; `size` or more
  bool is_number() const {
    return type() == TMETER_METADATA_INT || type() == TMETER_METADATA_FLOAT;
  }

  // Values of an array, or the only one; `fallback` and empty for another type or index.
  std::string_view text(uint32_t i = 0) const {
    return type() == TMETER_METADATA_TEXT && i < size() ? to_view(m_.texts[i]) : std::string_view();
  }
  int64_t as_int(int64_t fallback = 0, uint32_t i = 0) const {
    const bool held = type() == TMETER_METADATA_INT || type() == TMETER_METADATA_BOOL;
    return held && i < size() ? m_.ints[i] : fallback;
  }
  double as_float(double fallback = 0, uint32_t i = 0) const {
    if (i >= size() || !is_number()) return fallback;
    return type() == TMETER_METADATA_FLOAT ? m_.floats[i] : static_cast<double>(m_.ints[i]);
  }

 private:
  tmeter_metadata m_;
};

/// Makes a sequence with `size` and `at(i)` usable in a range-for.
template <class Item, class At>
class IndexRange {
 public:
  IndexRange(size_t size, At at) : size_(size), at_(at) {}
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Item;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Item;
    iterator(const At* at, size_t i) : at_(at), i_(i) {}
    Item operator*() const { return (*at_)(i_); }
    iterator& operator++() { return ++i_, *this; }
    bool operator!=(const iterator& o) const { return i_ != o.i_; }
    bool operator==(const iterator& o) const { return i_ == o.i_; }

   private:
    const At* at_;
    size_t i_;
  };
  iterator begin() const { return {&at_, 0}; }
  iterator end() const { return {&at_, size_}; }
  size_t size() const { return size_; }
  Item operator[](size_t i) const { return at_(i); }

 private:
  size_t size_;
  At at_;
};

class Graph {
 public:
  explicit Graph(const tmeter_graph* h) : h_(h) {}
  const tmeter_graph* handle() const { return h_; }
  std::string_view property(std::string_view key) const {
    return to_view(api().property(h_, to_abi(key)));
  }
  /// Facts from the file, abi/metadata.h; empty on a host that does not support them.
  auto metadata() const {
    const bool known = TMETER_IS_SET(&api(), tmeter_graph_api, metadata_count);
    return range<Metadata>(known ? api().metadata_count(h_) : 0, [h = h_](size_t i) {
      tmeter_metadata m{};
      m.struct_size = sizeof m;
      check(api().metadata_at(h, i, &m));
      return Metadata(m);
    });
  }
  /// Nothing: the file does not have it.
  std::optional<Metadata> metadata(std::string_view space, std::string_view key) const {
    if (!TMETER_IS_SET(&api(), tmeter_graph_api, metadata_find)) return std::nullopt;
    tmeter_metadata m{};
    m.struct_size = sizeof m;
    if (api().metadata_find(h_, to_abi(space), to_abi(key), &m) != TMETER_OK) return std::nullopt;
    return Metadata(m);
  }
  auto nodes() const {
    return range<Node>(api().node_count(h_),
                       [h = h_](size_t i) { return Node(api().node_at(h, i)); });
  }
  auto modules() const {
    return range<Module>(api().module_count(h_),
                         [h = h_](size_t i) { return Module(api().module_at(h, i)); });
  }
  auto module_calls() const {
    return range<ModuleCall>(api().module_call_count(h_),
                             [h = h_](size_t i) { return ModuleCall(api().module_call_at(h, i)); });
  }
  auto tensors() const {
    return range<Tensor>(api().tensor_count(h_),
                         [h = h_](size_t i) { return Tensor(api().tensor_at(h, i)); });
  }
  auto inputs() const {
    return range<Value>(api().input_count(h_),
                        [h = h_](size_t i) { return Value(api().input_at(h, i)); });
  }
  std::string_view input_name(size_t i) const { return to_view(api().input_name(h_, i)); }
  std::string_view input_origin(size_t i) const { return to_view(api().input_origin(h_, i)); }
  /// Dims that the user requested for the input (propagators only); empty: there are
  /// none.
  Shape input_wanted(size_t i) const { return Shape(api().input_wanted(h_, i)); }
  auto outputs() const {
    return range<Value>(api().output_count(h_),
                        [h = h_](size_t i) { return Value(api().output_at(h, i)); });
  }
  auto symbols() const {
    return range<tmeter_symbol_info>(api().symbol_count(h_), [h = h_](size_t i) {
      tmeter_symbol_info info{};
      info.struct_size = sizeof info;
      check(api().symbol_at(h, i, &info));
      return info;
    });
  }
  Module root() const { return Module(api().module_at(h_, 0)); }

 private:
  static const tmeter_graph_api& api() { return detail::graph_api(); }
  template <class Item, class At>
  static IndexRange<Item, At> range(size_t n, At at) {
    return {n, at};
  }
  const tmeter_graph* h_;
};

TMETER_SDK_END
