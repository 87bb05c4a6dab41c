#include "tensors.hpp"

namespace pt2 {
namespace {

std::vector<int64_t> read_numbers(Symbols& symbols, json::object meta, std::string_view key) {
  std::vector<int64_t> numbers;
  for (const json::element e : array_member(meta, key)) {
    numbers.push_back(symbols.value(e));
    if (numbers.back() < 0)
      throw BadFile(std::string(key) + "[" + std::to_string(numbers.size() - 1) + "] is " +
                    std::to_string(numbers.back()));
  }
  return numbers;
}

void read_meta(Symbols& symbols, json::object meta, StoredTensor& t) {
  t.dtype = read_dtype(meta);
  t.dims = read_numbers(symbols, meta, "sizes");
  t.strides = read_numbers(symbols, meta, "strides");
  if (t.dims.size() != t.strides.size())
    throw BadFile("it has " + std::to_string(t.dims.size()) + " sizes but " +
                  std::to_string(t.strides.size()) + " strides");
  t.storage_offset = symbols.value(member(meta, "storage_offset"));
  if (t.storage_offset < 0) throw BadFile("storage_offset is negative");
  t.trainable =
      t.spec.kind == TMETER_TENSOR_PARAMETER && read_member(meta, "requires_grad", as_bool);
}

bool is_empty(const StoredTensor& t) { return std::ranges::find(t.dims, 0) != t.dims.end(); }

/// Bytes of storage its elements reach into; INT64_MAX when that exceeds 63 bits.
int64_t reach(const StoredTensor& t) {
  if (is_empty(t)) return 0;
  int64_t last = t.storage_offset;
  for (size_t i = 0; i < t.dims.size(); ++i) {
    int64_t step = 0;
    if (__builtin_mul_overflow(t.dims[i] - 1, t.strides[i], &step) ||
        __builtin_add_overflow(last, step, &last))
      return INT64_MAX;
  }
  int64_t bytes = 0;
  if (__builtin_add_overflow(last, 1, &last) ||
      __builtin_mul_overflow(last, t.dtype.bytes(), &bytes))
    return INT64_MAX;
  return bytes;
}

std::unordered_map<std::string_view, json::element> index_config(
    const std::optional<json::object>& document) {
  std::unordered_map<std::string_view, json::element> config;
  if (!document) return config;
  const auto table = object_member(*document, "config");
  config.reserve(table.size());
  for (const auto field : table)
    if (!config.emplace(field.key, field.value).second)
      throw BadFile("the config names " + in_quotes(field.key) + " twice");
  return config;
}

}  // namespace

std::string_view owner_path(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

void Tensors::read(const std::vector<TensorSpec>& specs, const Scope& scope,
                   std::optional<json::object> weights, std::optional<json::object> constants) {
  weights_ = index_config(weights);
  constants_ = index_config(constants);
  tensors_.reserve(specs.size());
  for (const auto& spec : specs)
    within([&] { return "tensor " + in_quotes(spec.name); }, [&] { add(read_one(spec, scope)); });
}

void Tensors::add(StoredTensor tensor) {
  const auto [it, added] = by_name_.try_emplace(tensor.spec.name, tensors_.size());
  if (added) {
    tensors_.push_back(std::move(tensor));
    return;
  }
  // torch 2.6 … 2.8, strict: the names of a tied tensor have become one, its arguments have not.
  auto& first = tensors_[it->second];
  if (first.spec.kind != tensor.spec.kind || first.dtype != tensor.dtype ||
      first.dims != tensor.dims || first.strides != tensor.strides)
    throw BadFile("it is there twice, with different types or sizes");
  first.aliases.push_back(tensor.spec.argument);
}

StoredTensor Tensors::read_one(const TensorSpec& spec, const Scope& scope) {
  StoredTensor t;
  t.spec = spec;
  const bool is_weight = spec.kind != TMETER_TENSOR_CONSTANT && spec.persistent;
  const auto& config = is_weight ? weights_ : constants_;
  const auto it = config.find(spec.name);
  if (it == config.end()) {
    read_meta(building_.symbols, scope.tensor_meta(spec.argument), t);
    return t;
  }
  const auto payload = as_object(it->second);
  const auto meta = find_set(payload, "tensor_meta");
  read_meta(building_.symbols, meta ? as_object(*meta) : scope.tensor_meta(spec.argument), t);
  read_payload(t, payload, is_weight ? archive_.weights_folder : archive_.constants_folder);
  return t;
}

void Tensors::read_payload(StoredTensor& t, json::object payload, const std::string& folder) {
  const std::string path = folder + std::string(text_member(payload, "path_name"));
  const auto entry = source_.find(path);
  if (!entry) throw BadFile("its record " + in_quotes(path) + " is not in the archive");
  const auto pickled = find_set(payload, "use_pickle");
  if (pickled && as_bool(*pickled)) {
    t.storage_key = path;  // a tensor subclass: its bytes are inside a pickle
    return;
  }
  if (entry->size == 0 && !is_empty(t)) return;  // weightless: many names share the empty record
  if (const int64_t needed = reach(t); needed > static_cast<int64_t>(entry->size))
    throw BadFile("its elements reach beyond its record " + in_quotes(path) + " of " +
                  std::to_string(entry->size) + " bytes");
  t.storage_bytes = static_cast<int64_t>(entry->size);
  if (entry->size == 0) return;  // no elements: tensors without memory are not tied
  t.storage_key = path;
  if (entry->stored) t.file_offset = static_cast<int64_t>(entry->offset);
}

void Tensors::build(const Modules& modules, Scope& scope) {
  for (const auto& t : tensors_) {
    tmeter_tensor_desc d{};
    d.kind = t.spec.kind;
    d.name = tmeter::to_abi(t.spec.name);
    d.owner = modules.module(owner_path(t.spec.name));
    d.dtype = t.dtype.id();
    d.dims = t.dims.data();
    d.strides = t.strides.data();
    d.rank = t.dims.size();
    d.storage_key = tmeter::to_abi(t.storage_key);
    d.storage_offset = t.storage_offset;
    d.file_offset = t.file_offset;
    d.storage_bytes = t.storage_bytes;
    d.trainable = t.trainable;
    const auto value = building_.graph.bound(building_.graph.tensor(d));
    scope.define(t.spec.argument, value);
    for (const auto alias : t.aliases) scope.define(alias, value);
  }
}

}  // namespace pt2
