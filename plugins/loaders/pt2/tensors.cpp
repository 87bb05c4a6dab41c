#include "tensors.hpp"

#include <algorithm>

#include "dtypes.hpp"

namespace pt2 {
namespace {

/// Parameters and persistent buffers are among the weights, everything else among the constants.
bool is_weight(const TensorSpec& spec) {
  return spec.kind != TMETER_TENSOR_CONSTANT && spec.persistent;
}

}  // namespace

std::string_view owner_path(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

void Tensors::read_config(const Series& table, bool of_weights,
                          const std::vector<TensorSpec>& specs, const Scope& scope) {
  auto& config = config_of(of_weights);
  NameMap<const TensorSpec*> wanted;
  if (!table.is_lasting()) {
    for (const auto& spec : specs)
      if (is_weight(spec) == of_weights) wanted.insert(spec.name, &spec);
    config.tensors.reserve(wanted.entries().size());
  }
  PlainTensors plain;
  const auto read = [&](std::string_view piece) {
    building_.notes.check_cancelled();
    if (!plain.read_payloads(piece)) return false;
    read_plain(plain, of_weights, wanted);
    return true;
  };
  table.each(read, [&](json::element piece) {
    building_.notes.check_cancelled();
    const auto fields = within([] { return "config"; }, [&] { return as_object(piece); });
    if (table.is_lasting()) config.elements.reserve(fields.size());
    for (const auto field : fields) {
      if (table.is_lasting()) {
        config.elements.insert(field.key, field.value);
      } else if (const auto* spec = wanted.find(field.key)) {
        within([&] { return "tensor " + in_quotes(field.key); },
               [&] { keep(**spec, read_element(**spec, field.value, scope), of_weights); });
      }
    }
  });
}

void Tensors::keep(const TensorSpec& spec, const StoredTensor& tensor, bool of_weights) {
  if (!config_of(of_weights).tensors.insert(spec.name, tensor).second)
    throw BadFile("it is there twice");
}

void Tensors::read_plain(const PlainTensors& plain, bool of_weights,
                         const NameMap<const TensorSpec*>& wanted) {
  for (const auto& tensor : plain.tensors)
    if (const auto* spec = wanted.find(tensor.name))
      within([&] { return "tensor " + in_quotes(tensor.name); },
             [&] { keep(**spec, read_plain(**spec, plain, tensor), of_weights); });
}

StoredTensor Tensors::read_plain(const TensorSpec& spec, const PlainTensors& plain,
                                 const PlainTensor& from) {
  StoredTensor t;
  t.spec = spec;
  t.dtype = scalar_type(from.meta.dtype);
  t.first_size = static_cast<uint32_t>(numbers_.size());
  t.rank = static_cast<uint32_t>(from.meta.rank);
  const auto sizes = plain.numbers.begin() + static_cast<ptrdiff_t>(from.meta.first);
  numbers_.insert(numbers_.end(), sizes, sizes + static_cast<ptrdiff_t>(2 * from.meta.rank));
  t.storage_offset = from.meta.storage_offset;
  t.trainable = spec.kind == TMETER_TENSOR_PARAMETER && from.meta.requires_grad;
  read_record(t, from.record, from.is_pickled, folder_of(spec));
  return t;
}

const std::string& Tensors::folder_of(const TensorSpec& spec) const {
  return is_weight(spec) ? archive_.weights_folder : archive_.constants_folder;
}

void Tensors::read(const std::vector<TensorSpec>& specs, const Scope& scope, Modules& modules,
                   const std::optional<Series>& weights, const std::optional<Series>& constants) {
  const auto read_all = [&](const std::optional<Series>& table, bool of_weights, const char* what) {
    if (table) within([&] { return what; }, [&] { read_config(*table, of_weights, specs, scope); });
  };
  read_all(weights, true, "weights config");
  read_all(constants, false, "constants config");
  tensors_.reserve(specs.size());
  by_name_.reserve(specs.size());
  for (const auto& spec : specs) {
    within([&] { return "tensor " + in_quotes(spec.name); },
           [&] {
             auto tensor = read_one(spec, scope);
             tensor.owner = modules.add_path(owner_path(spec.name));
             add(tensor);
           });
  }
}

void Tensors::add(const StoredTensor& tensor) {
  const auto [index, added] = by_name_.insert(tensor.spec.name, tensors_.size());
  if (added) {
    tensors_.push_back(tensor);
    return;
  }
  // torch 2.6 … 2.8, strict: the names of a tied tensor have become one, its arguments have not.
  const auto& first = tensors_[*index];
  if (first.spec.kind != tensor.spec.kind || first.dtype != tensor.dtype ||
      !std::ranges::equal(sizes(first), sizes(tensor)) ||
      !std::ranges::equal(strides(first), strides(tensor)))
    throw BadFile("it is there twice, with different types or sizes");
  aliases_.emplace_back(tensor.spec.argument, *index);
}

StoredTensor Tensors::read_one(const TensorSpec& spec, const Scope& scope) {
  const auto& config = config_of(is_weight(spec));
  if (const auto* element = config.elements.find(spec.name))
    return read_element(spec, *element, scope);
  StoredTensor t;
  if (const auto* known = config.tensors.find(spec.name)) t = *known;
  const bool is_known = t.spec.kind == spec.kind && !t.spec.name.empty();
  t.spec = spec;
  if (!is_known) read_meta(scope.tensor_meta(spec.argument), t);
  return t;
}

StoredTensor Tensors::read_element(const TensorSpec& spec, json::element element,
                                   const Scope& scope) {
  StoredTensor t;
  t.spec = spec;
  const auto payload = as_object(element);
  const auto meta = find_set(payload, "tensor_meta");
  read_meta(meta ? as_object(*meta) : scope.tensor_meta(spec.argument), t);
  read_payload(t, payload, folder_of(spec));
  return t;
}

/// Appends to numbers_; sizes, strides and offsets may not be negative.
void Tensors::read_numbers(json::element list, std::string_view key) {
  within([&] { return key; },
         [&] {
           for (const json::element e : as_array(list)) {
             numbers_.push_back(building_.symbols.value(e));
             if (numbers_.back() < 0)
               throw BadFile("it holds the negative " + std::to_string(numbers_.back()));
           }
         });
}

void Tensors::read_meta(json::object meta, StoredTensor& t) {
  t.dtype = read_dtype(meta);
  t.first_size = static_cast<uint32_t>(numbers_.size());
  read_numbers(member(meta, "sizes"), "sizes");
  t.rank = static_cast<uint32_t>(numbers_.size()) - t.first_size;
  read_numbers(member(meta, "strides"), "strides");
  if (numbers_.size() != t.first_size + 2 * size_t{t.rank})
    throw BadFile("it has a different number of sizes and strides");
  t.storage_offset = building_.symbols.value(member(meta, "storage_offset"));
  if (t.storage_offset < 0) throw BadFile("its storage_offset is negative");
  t.trainable =
      t.spec.kind == TMETER_TENSOR_PARAMETER && read_member(meta, "requires_grad", as_bool);
}

/// Bytes of storage its elements reach into; INT64_MAX when that exceeds 63 bits.
int64_t Tensors::reach(const StoredTensor& t) const {
  int64_t last = t.storage_offset;
  for (size_t i = 0; i < t.rank; ++i) {
    int64_t step = 0;
    if (sizes(t)[i] == 0) return 0;
    if (__builtin_mul_overflow(sizes(t)[i] - 1, strides(t)[i], &step) ||
        __builtin_add_overflow(last, step, &last))
      return INT64_MAX;
  }
  int64_t bytes = 0;
  if (__builtin_add_overflow(last, 1, &last) ||
      __builtin_mul_overflow(last, t.dtype.bytes(), &bytes))
    return INT64_MAX;
  return bytes;
}

const std::optional<tmeter::Entry>& Tensors::record(const std::string& folder,
                                                    std::string_view name) {
  const auto same = [&] {
    return record_path_.size() == folder.size() + name.size() && record_path_.starts_with(folder) &&
           record_path_.ends_with(name);
  };
  if (record_path_.empty() || !same()) {
    record_path_.assign(folder).append(name);
    record_ = source_.find(record_path_);
  }
  return record_;
}

void Tensors::read_payload(StoredTensor& t, json::object payload, const std::string& folder) {
  const auto name = text_member(payload, "path_name");
  const auto pickled = find_set(payload, "use_pickle");
  read_record(t, name, pickled && as_bool(*pickled), folder);
}

void Tensors::read_record(StoredTensor& t, std::string_view name, bool pickled,
                          const std::string& folder) {
  const auto& entry = record(folder, name);
  if (!entry) throw BadFile("its record " + in_quotes(name) + " is not in the archive");
  if (pickled) {
    t.storage_key = entry->name;  // a tensor subclass: its bytes are inside a pickle
    return;
  }
  const bool has_elements = std::ranges::find(sizes(t), 0) == sizes(t).end();
  if (entry->size == 0 && has_elements) return;  // weightless: many names share an empty record
  if (const int64_t needed = reach(t); needed > static_cast<int64_t>(entry->size))
    throw BadFile("its elements reach beyond its record " + in_quotes(name) + " of " +
                  std::to_string(entry->size) + " bytes");
  if (entry->size == 0) return;  // tensors without memory are not tied
  t.storage_bytes = static_cast<int64_t>(entry->size);
  t.storage_key = entry->name;
  if (entry->stored) t.file_offset = static_cast<int64_t>(entry->offset);
}

void Tensors::build(const Modules& modules, Scope& scope) {
  std::vector<tmeter_id> values;
  for (const auto& t : tensors_) {
    tmeter_tensor_desc d{};
    d.kind = t.spec.kind;
    d.name = tmeter::to_abi(t.spec.name);
    d.owner = modules.module(t.owner);
    d.dtype = t.dtype.id();
    d.dims = sizes(t).data();
    d.strides = strides(t).data();
    d.rank = t.rank;
    d.storage_key = tmeter::to_abi(t.storage_key);
    d.storage_offset = t.storage_offset;
    d.file_offset = t.file_offset;
    d.storage_bytes = t.storage_bytes;
    d.trainable = t.trainable;
    values.push_back(building_.graph.bound(building_.graph.tensor(d)));
    scope.define(t.spec.argument, values.back());
  }
  for (const auto& [argument, tensor] : aliases_) scope.define(argument, values[tensor]);
}

}  // namespace pt2
