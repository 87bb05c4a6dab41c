// For loaders: the given file (Source, Request) and the graph being built (GraphBuilder).
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "call.hpp"

TMETER_SDK_BEGIN

struct Entry {
  size_t index;
  std::string_view name;
  uint64_t size;    // uncompressed bytes
  uint64_t offset;  // offset of the first byte in the file
  bool stored;      // not compressed: the bytes at `offset` are the content
};

/// The mapped file and its (already checked) ZIP directory.
class Source {
 public:
  Source(tmeter_call* call, const tmeter_source* h) : call_(call), h_(h) {}
  std::string_view path() const { return to_view(detail::source_api().path(h_)); }
  std::string_view bytes() const { return view(detail::source_api().bytes(h_)); }
  size_t entry_count() const { return detail::source_api().entry_count(h_); }
  Entry entry(size_t i) const {
    tmeter_archive_entry e{};
    e.struct_size = sizeof e;
    check(detail::source_api().entry_at(h_, i, &e));
    return {i, to_view(e.name), e.size, e.offset, e.stored != 0};
  }
  std::optional<Entry> find(std::string_view name) const {
    size_t i = 0;
    const auto status = detail::source_api().find(h_, to_abi(name), &i);
    if (status == TMETER_UNSUPPORTED) return std::nullopt;
    check(status);
    return entry(i);
  }
  /// The content. At least 64 readable bytes follow it, as simdjson requires.
  std::string_view read(const Entry& e) const {
    tmeter_bytes b{};
    check(detail::source_api().read(call_, h_, e.index, &b));
    return view(b);
  }
  /// Another file of the same model in the same folder, by its plain name.
  Source companion(std::string_view name) const {
    const tmeter_source* other = nullptr;
    check(detail::source_api().companion(call_, h_, to_abi(name), &other));
    return {call_, other};
  }
  const tmeter_source* handle() const { return h_; }

 private:
  static std::string_view view(tmeter_bytes b) {
    return {reinterpret_cast<const char*>(b.ptr), b.len};
  }
  tmeter_call* call_;
  const tmeter_source* h_;
};

struct InputSpec {
  std::string_view name;  // empty: by position
  std::string_view text;  // in the user's notation
  DType dtype;            // undefined if the user states none
  Shape dims;
  int32_t form = TMETER_INPUT_TENSOR;
  std::string_view value;        // of TMETER_INPUT_VALUE: "true", "0.5", "none"
  std::vector<InputSpec> items;  // items of a list or tuple
};

class Request {
 public:
  Request(tmeter_call* call, const tmeter_request* h) : call_(call), h_(h) {}
  const tmeter_request* handle() const { return h_; }
  Source source() const { return {call_, detail::request_api().source(h_)}; }
  bool trusted() const { return detail::request_api().trusted(h_) != 0; }
  std::vector<InputSpec> inputs() const {
    std::vector<InputSpec> specs;
    const size_t n = detail::request_api().input_count(h_);
    for (size_t i = 0; i < n;) specs.push_back(input(i));
    return specs;
  }

 private:
  /// The input at `i` with its items. Advances `i` past them.
  InputSpec input(size_t& i) const {
    tmeter_input_spec s{};
    s.struct_size = sizeof s;
    check(detail::request_api().input_at(h_, i++, &s));
    InputSpec out{to_view(s.name),
                  to_view(s.text),
                  DType(s.dtype),
                  Shape(s.dims),
                  s.form,
                  to_view(s.value),
                  {}};
    for (uint32_t k = 0; k < s.items; ++k) out.items.push_back(input(i));
    return out;
  }

  tmeter_call* call_;
  const tmeter_request* h_;
};

/// Pushes a model into the host. Every function throws if the host refuses (builder.h has the
/// cases). A plugin built without exceptions continues with ids of 0, and its loader fails at the
/// end.
class GraphBuilder {
 public:
  using Id = tmeter_id;
  explicit GraphBuilder(tmeter_builder* h) : h_(h) {}
  tmeter_builder* handle() const { return h_; }
  /// For code without exceptions: the status of the first refusal, or TMETER_OK.
  tmeter_status refused() const { return refused_; }

  static tmeter_dim dim(int64_t value) { return {value, 0, 0}; }
  static tmeter_dim dim_expr(Id expr) { return {0, expr, 0}; }

  void property(std::string_view key, std::string_view value) {
    check(api().property(h_, to_abi(key), to_abi(value)));
  }
  Id symbol(std::string_view name, int64_t min, int64_t max, int64_t value) {
    return make([&](Id* id) { return api().symbol(h_, to_abi(name), min, max, value, id); });
  }
  Id expr_int(int64_t v) {
    return make([&](Id* id) { return api().expr_int(h_, v, id); });
  }
  Id expr_symbol(Id symbol) {
    return make([&](Id* id) { return api().expr_symbol(h_, symbol, id); });
  }
  Id expr(int32_t op, const std::vector<Id>& operands) {
    return make([&](Id* id) { return api().expr(h_, op, operands.data(), operands.size(), id); });
  }
  Id module(Id parent, std::string_view name, std::string_view type) {
    return make([&](Id* id) { return api().module(h_, parent, to_abi(name), to_abi(type), id); });
  }
  void module_attribute(Id module, std::string_view name, Id value) {
    check(api().module_attribute(h_, module, to_abi(name), value));
  }
  Id module_call(Id module, Id parent) {
    return make([&](Id* id) { return api().module_call(h_, module, parent, id); });
  }
  Id tensor(tmeter_tensor_desc desc) {
    desc.struct_size = sizeof desc;
    return make([&](Id* id) { return api().tensor(h_, &desc, id); });
  }
  Id none() {
    return make([&](Id* id) { return api().value_none(h_, id); });
  }
  Id tensor_value(DType dtype, const std::vector<tmeter_dim>& dims) {
    return make(
        [&](Id* id) { return api().value_tensor(h_, dtype.id(), dims.data(), dims.size(), id); });
  }
  Id bound(Id tensor) {
    return make([&](Id* id) { return api().value_bound(h_, tensor, id); });
  }
  Id integer(int64_t v) { return integer(dim(v)); }
  Id integer(tmeter_dim v) {
    return make([&](Id* id) { return api().value_int(h_, v, id); });
  }
  Id real(double v) {
    return make([&](Id* id) { return api().value_float(h_, v, id); });
  }
  Id boolean(bool v) {
    return make([&](Id* id) { return api().value_bool(h_, v ? 1 : 0, id); });
  }
  Id text(std::string_view v) {
    return make([&](Id* id) { return api().value_text(h_, to_abi(v), id); });
  }
  Id dtype(DType v) {
    return make([&](Id* id) { return api().value_dtype(h_, v.id(), id); });
  }
  Id other(std::string_view v) {
    return make([&](Id* id) { return api().value_other(h_, to_abi(v), id); });
  }
  Id list(const std::vector<Id>& items) {
    return make([&](Id* id) { return api().value_list(h_, items.data(), items.size(), id); });
  }
  void input(std::string_view name, std::string_view origin, Id value) {
    check(api().input(h_, to_abi(name), to_abi(origin), value));
  }
  /// The user requested dims that the file cannot provide; a propagator computes the other sizes.
  void want_input(std::string_view name, Shape dims) {
    check(api().want_input(h_, to_abi(name), dims.begin(), static_cast<size_t>(dims.rank())));
  }
  void output(Id value) { check(api().output(h_, value)); }
  Id node(std::string_view op, std::string_view overload, Id call,
          const std::vector<tmeter_arg>& args, const std::vector<Id>& results,
          std::string_view location = {}) {
    tmeter_node_desc d{};
    d.struct_size = sizeof d;
    d.module_call = call;
    d.op = to_abi(op);
    d.overload = to_abi(overload);
    d.args = args.data();
    d.arg_count = args.size();
    d.results = results.data();
    d.result_count = results.size();
    d.location = to_abi(location);
    return make([&](Id* id) { return api().node(h_, &d, id); });
  }
  /// Metadata of the file, a value or an array (abi/metadata.h). Arrays may be cut; `length` is the
  /// length of the whole array.
  void metadata(std::string_view space, std::string_view key, std::string_view value) {
    const auto text = to_abi(value);
    metadata({.type = TMETER_METADATA_TEXT, .texts = &text}, space, key);
  }
  void metadata(std::string_view space, std::string_view key, const char* value) {
    metadata(space, key, std::string_view(value));
  }
  void metadata(std::string_view space, std::string_view key, int64_t value) {
    metadata({.type = TMETER_METADATA_INT, .ints = &value}, space, key);
  }
  void metadata(std::string_view space, std::string_view key, double value) {
    metadata({.type = TMETER_METADATA_FLOAT, .floats = &value}, space, key);
  }
  void metadata(std::string_view space, std::string_view key, bool value) {
    const int64_t i = value ? 1 : 0;
    metadata({.type = TMETER_METADATA_BOOL, .ints = &i}, space, key);
  }
  void metadata(std::string_view space, std::string_view key, std::span<const tmeter_str> values,
                int64_t length = -1) {
    array({.type = TMETER_METADATA_TEXT, .texts = values.data()}, space, key, values.size(),
          length);
  }
  void metadata(std::string_view space, std::string_view key, std::span<const int64_t> values,
                int64_t length = -1) {
    array({.type = TMETER_METADATA_INT, .ints = values.data()}, space, key, values.size(), length);
  }
  void metadata(std::string_view space, std::string_view key, std::span<const double> values,
                int64_t length = -1) {
    array({.type = TMETER_METADATA_FLOAT, .floats = values.data()}, space, key, values.size(),
          length);
  }
  /// `ints` are 0 or 1.
  void metadata_bools(std::string_view space, std::string_view key, std::span<const int64_t> ints,
                      int64_t length = -1) {
    array({.type = TMETER_METADATA_BOOL, .ints = ints.data()}, space, key, ints.size(), length);
  }
  /// The struct of abi/metadata.h.
  void metadata(tmeter_metadata m) {
    m.struct_size = sizeof m;
    check(api().metadata(h_, &m));
  }
  /// A condition on sizes under which the program was recorded (abi/builder.h). Older hosts
  /// ignore it.
  void condition(Id expr, std::string_view text) {
    if (TMETER_IS_SET(&api(), tmeter_builder_api, condition))
      check(api().condition(h_, expr, to_abi(text)));
  }
  /// The node's name in the file.
  void node_name(Id node, std::string_view name) { check(api().node_name(h_, node, to_abi(name))); }
  static tmeter_arg arg(std::string_view name, Id value) { return {to_abi(name), value, 0}; }

 private:
  struct MetadataValues {
    int32_t type = 0;
    const tmeter_str* texts = nullptr;
    const int64_t* ints = nullptr;
    const double* floats = nullptr;
  };
  void metadata(const MetadataValues& v, std::string_view space, std::string_view key) {
    metadata(
        tmeter_metadata{0, v.type, to_abi(space), to_abi(key), 0, 1, 1, v.texts, v.ints, v.floats});
  }
  void array(const MetadataValues& v, std::string_view space, std::string_view key, size_t count,
             int64_t length) {
    const auto whole = length < 0 ? static_cast<int64_t>(count) : length;
    metadata(tmeter_metadata{0, v.type, to_abi(space), to_abi(key), 1, static_cast<uint32_t>(count),
                             whole, v.texts, v.ints, v.floats});
  }
  static const tmeter_builder_api& api() { return detail::builder_api(); }
  void check(tmeter_status status) {
#ifdef __cpp_exceptions
    tmeter::check(status);
#else
    if (refused_ == TMETER_OK) refused_ = status;
#endif
  }
  template <class F>
  Id make(F&& f) {
    Id id = 0;
    check(f(&id));
    return id;
  }
  tmeter_builder* h_;
  tmeter_status refused_ = TMETER_OK;
};

TMETER_SDK_END
