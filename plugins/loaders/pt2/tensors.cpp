#include "tensors.hpp"

#include <algorithm>

#include "subclass.hpp"
#include "tensor_meta.hpp"

namespace pt2 {
namespace {

/// Parameters and persistent buffers are among the weights, everything else among the constants.
bool is_weight(const TensorSpec& spec) {
  return spec.kind != TMETER_TENSOR_CONSTANT && spec.persistent;
}

/// "[64, 3, 7, 7]"
std::string shape_text(std::span<const int64_t> numbers) {
  std::string text;
  for (const auto n : numbers) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return "[" + text + "]";
}

}  // namespace

std::string_view owner_path(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

void Tensors::read_config(const ChunkedArray& table, bool of_weights, const Specs& specs,
                          const Scope& scope) {
  const auto& names = names_of(of_weights);
  table.each([&](json::element piece) {
    building_.notes.check_cancelled();
    const auto fields = within([] { return "config"; }, [&] { return as_object(piece); });
    for (const auto field : fields) {
      const auto entry = names.find_next(field.key, last_name_);
      if (entry == 0) continue;
      const auto index = names.at(entry - 1);
      within([&] { return "tensor " + in_quotes(field.key); },
             [&] { keep(index, read_element(specs[index], field.value, scope)); });
    }
  });
}

void Tensors::keep(uint32_t index, const StoredTensor& tensor) {
  if (tensors_[index].spec) throw BadFile("it occurs twice");
  tensors_[index] = tensor;
}

const std::string& Tensors::folder_of(const TensorSpec& spec) const {
  return is_weight(spec) ? archive_.weights_folder : archive_.constants_folder;
}

void Tensors::note_names(const Specs& specs) {
  const auto weights = static_cast<size_t>(std::ranges::count_if(specs, is_weight));
  weights_.reserve(weights);
  constants_.reserve(specs.size() - weights);
  const auto names = [&](size_t i) -> auto& { return names_of(is_weight(specs[i])); };
  for (size_t i = 0; i < specs.size(); ++i)
    if (!names(i).insert(specs[i].name, static_cast<uint32_t>(i)).second) names_repeat_ = true;
  for (const auto& constant : constants_.entries())
    if (weights_.find(constant.name)) names_repeat_ = true;
}

/// The index of the first specification with the same name.
uint32_t Tensors::first_of_name(const Specs& specs, uint32_t index) const {
  if (!names_repeat_) return index;
  for (const auto* config : {&weights_, &constants_})
    if (const auto* first = config->find(specs[index].name)) index = std::min(index, *first);
  return index;
}

void Tensors::read(const Specs& specs, const Scope& scope, Modules& modules,
                   const std::optional<ChunkedArray>& weights,
                   const std::optional<ChunkedArray>& constants) {
  note_names(specs);
  has_weights_ = weights.has_value();
  has_constants_ = constants.has_value();
  tensors_.resize(specs.size());
  tensor_of_.resize(specs.size());
  const auto read_all = [&](const std::optional<ChunkedArray>& table, bool of_weights,
                            const char* what) {
    if (table) within([&] { return what; }, [&] { read_config(*table, of_weights, specs, scope); });
  };
  read_all(weights, true, "weights config");
  read_all(constants, false, "constants config");
  // Distinct tensors move to the front, usually to their own index.
  if (names_repeat_) by_spec_ = tensors_;
  for (uint32_t i = 0; i < specs.size(); ++i) {
    within([&] { return "tensor " + in_quotes(specs[i].name); },
           [&] {
             auto tensor = read_one(specs, i, scope);
             tensor.owner = modules.add_path(owner_path(specs[i].name));
             add(tensor, i, first_of_name(specs, i));
           });
  }
  tensors_.resize(count_);
}

void Tensors::add(const StoredTensor& tensor, uint32_t index, uint32_t first_index) {
  if (first_index == index) {
    tensor_of_[index] = static_cast<uint32_t>(count_);
    tensors_[count_++] = tensor;
    return;
  }
  if (has_config_of(*tensor.spec)) throw BadFile("two inputs of the graph have this name");
  // Strict export of torch 2.6 … 2.8: a tied tensor has one name but several arguments.
  tensor_of_[index] = tensor_of_[first_index];
  const auto& first = tensors_[tensor_of_[index]];
  if (first.spec->kind != tensor.spec->kind || first.dtype != tensor.dtype ||
      !std::ranges::equal(sizes(first), sizes(tensor)) ||
      !std::ranges::equal(strides(first), strides(tensor)))
    throw BadFile("it occurs twice, with different types or sizes");
  aliases_.emplace_back(tensor.spec->argument, tensor_of_[index]);
}

StoredTensor Tensors::read_one(const Specs& specs, uint32_t index, const Scope& scope) {
  const auto& spec = specs[index];
  const auto& names = names_of(is_weight(spec));
  auto t = names_repeat_ ? by_spec_[*names.find(spec.name)] : tensors_[index];
  const bool is_known = t.spec && t.spec->kind == spec.kind && !spec.name.empty();
  t.spec = &spec;
  if (is_known) {
    require_agreement(t, scope);
    return t;
  }
  if (has_config_of(spec))
    throw BadFile(std::string("the ") + (is_weight(spec) ? "weights" : "constants") +
                  " config does not have it");
  read_meta(scope.tensor_meta(spec.argument), t);
  return t;
}

bool Tensors::has_config_of(const TensorSpec& spec) const {
  return is_weight(spec) ? has_weights_ : has_constants_;
}

/// The config and the graph describe the same tensor. Strides of dims of one element mean nothing.
void Tensors::require_agreement(const StoredTensor& t, const Scope& scope) {
  const auto recorded = scope.recorded(t.spec->argument, last_argument_);
  const auto differ = [](const char* what, const std::string& graph, const std::string& config) {
    throw BadFile(std::string("its ") + what + " " + graph + " in the graph, but " + config +
                  " in the config of its archive");
  };
  if (recorded.dtype.id() != t.dtype.id())
    differ("type is", std::string(recorded.dtype.name()), std::string(t.dtype.name()));
  if (!std::ranges::equal(recorded.sizes, sizes(t)))
    differ("shape is", shape_text(recorded.sizes), shape_text(sizes(t)));
  if (recorded.strides.size() != t.rank)
    throw BadFile("it has a different number of sizes and strides in the graph");
  // Live models are exported with expanded weights: one element, all strides 0.
  if (std::ranges::all_of(strides(t), [](int64_t stride) { return stride == 0; })) return;
  for (size_t i = 0; i < t.rank; ++i)
    if (sizes(t)[i] > 1 && recorded.strides[i] != strides(t)[i])
      return differ("strides are", shape_text(recorded.strides), shape_text(strides(t)));
}

StoredTensor Tensors::read_element(const TensorSpec& spec, json::element element,
                                   const Scope& scope) {
  StoredTensor t;
  t.spec = &spec;
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
  const auto is_negative = [](int64_t n) { return n < 0; };
  if (read_fixed(meta, meta_) && meta_.storage_offset >= 0 &&
      std::ranges::none_of(meta_.sizes, is_negative) &&
      std::ranges::none_of(meta_.strides, is_negative)) {
    t.dtype = scalar_type(meta_.dtype);
    t.first_size = static_cast<uint32_t>(numbers_.size());
    t.rank = static_cast<uint32_t>(meta_.sizes.size());
    numbers_.insert(numbers_.end(), meta_.sizes.begin(), meta_.sizes.end());
    numbers_.insert(numbers_.end(), meta_.strides.begin(), meta_.strides.end());
    t.storage_offset = meta_.storage_offset;
    t.trainable = t.spec->kind == TMETER_TENSOR_PARAMETER && meta_.requires_grad;
    return;
  }
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
      t.spec->kind == TMETER_TENSOR_PARAMETER && read_member(meta, "requires_grad", as_bool);
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
    t.storage_key = entry->name;
    const auto subclass = subclass_in(entry->stored ? source_.read(*entry) : std::string_view());
    t.encoding = subclass.encoding;
    t.storage_bytes = subclass.bytes;
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
  values.reserve(tensors_.size());
  uint32_t last = 0;
  for (const auto& t : tensors_) {
    tmeter_tensor_desc d{};
    d.kind = t.spec->kind;
    d.name = tmeter::to_abi(t.spec->name);
    d.owner = modules.module(t.owner);
    d.dtype = t.dtype.id();
    d.dims = sizes(t).data();
    if (t.encoding) {
      d.encoding = tmeter::to_abi(t.encoding);
      d.stored_dtype = TMETER_DTYPE_UNDEFINED;  // several types in a pickle
    } else {
      d.strides = strides(t).data();
    }
    d.rank = t.rank;
    d.storage_key = tmeter::to_abi(t.storage_key);
    if (!t.encoding) d.storage_offset = t.storage_offset;
    d.file_offset = t.file_offset;
    d.storage_bytes = t.storage_bytes;
    d.trainable = t.trainable;
    values.push_back(building_.graph.bound(building_.graph.tensor(d)));
    scope.define(t.spec->argument, values.back(), last);
  }
  for (const auto& [argument, tensor] : aliases_) scope.define(argument, values[tensor]);
}

}  // namespace pt2
