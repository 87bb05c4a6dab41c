#include "scope.hpp"

#include <array>

#include "../common/json_text.hpp"
#include "tensor_meta.hpp"

namespace pt2 {

Scope::Scope(Building& building, json::object graph) : building_(building) {
  if (const auto tensors = find_set(graph, "tensor_values"))
    within([] { return "tensor_values"; }, [&] { add_tensors(as_object(*tensors), true, 1); });
  read_tables(graph);
}

Scope::Scope(Building& building, json::object graph, const ChunkedArray& tensors)
    : building_(building) {
  within([] { return "tensor_values"; },
         [&] {
           tensors.each([&](json::element piece) {
             building_.notes.check_cancelled();
             add_tensors(as_object(piece), tensors.has_document_lifetime(), tensors.pieces());
           });
         });
  read_tables(graph);
}

void Scope::read_tables(json::object graph) {
  read_table(graph, "sym_int_values", Kind::kInt);
  read_table(graph, "sym_bool_values", Kind::kBool);
  read_table(graph, "sym_float_values", Kind::kFloat);
  read_table(graph, "custom_obj_values", Kind::kObject);
}

void Scope::read_table(json::object graph, std::string_view key, Kind kind) {
  const auto found = find_set(graph, key);  // the later tables came with minor versions
  if (!found) return;
  within([&] { return key; },
         [&] {
           const auto table = as_object(*found);
           slots_.reserve(slots_.entries().size() + table.size());
           for (const auto field : table)
             within([&] { return in_quotes(field.key); },
                    [&] { add(field.key, kind, field.value); });
         });
}

void Scope::add(std::string_view name, Kind kind, json::element meta) {
  Slot slot;
  slot.kind = kind;
  slot.at = static_cast<uint32_t>(elements_.size());
  if (!slots_.insert(name, slot).second) loading::refuse_repeated(name);
  elements_.push_back(meta);
  collect_sizes(kind, meta);
}

/// Adds one of `pieces` pieces of the table.
void Scope::add_tensors(json::object table, bool lasting, size_t pieces) {
  if (slots_.entries().empty()) slots_.reserve(table.size() * pieces);
  for (const auto field : table)
    within([&] { return in_quotes(field.key); },
           [&] { add_tensor(field.key, field.value, lasting); });
}

void Scope::add_tensor(std::string_view name, json::element meta, bool lasting) {
  const auto keep = [&](std::string_view text) {
    return lasting ? text : building_.texts.keep(text);
  };
  Slot slot;
  slot.kind = Kind::kTensor;
  if (read_fixed(as_object(meta), meta_)) {
    slot.form = Form::kFixed;
    slot.at = type_of(meta_);
  } else {
    collect_sizes(Kind::kTensor, meta);
    slot.form = lasting ? Form::kElement : Form::kText;
    slot.at = static_cast<uint32_t>(lasting ? elements_.size() : texts_.size());
    if (lasting)
      elements_.push_back(meta);
    else
      texts_.push_back(building_.texts.keep(simdjson::minify(meta)));
  }
  if (!slots_.insert_kept(name, slot, keep).second) loading::refuse_repeated(name);
}

uint32_t Scope::type_of(const FixedTensorMeta& meta) {
  const auto append = [&](std::span<const int64_t> numbers) {
    key_.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
  };
  const std::array<int64_t, 3> scalars{meta.dtype, meta.storage_offset, meta.requires_grad};
  key_.clear();
  append(scalars);
  append(meta.sizes);
  append(meta.strides);
  const auto next = static_cast<uint32_t>(types_.size());
  const auto keep = [&](std::string_view text) { return building_.texts.keep(text); };
  const auto [position, added] = type_index_.insert_kept(key_, next, keep);
  if (added) types_.push_back({meta, false});
  return *position;
}

/// The members of a TensorMeta that are read here, as in the file.
std::string Scope::json_of(const FixedTensorMeta& meta) {
  const auto number = [](int64_t n) { return "{\"as_int\": " + std::to_string(n) + "}"; };
  const auto list = [&](std::span<const int64_t> numbers) {
    std::string text;
    for (const auto n : numbers) text += (text.empty() ? "" : ", ") + number(n);
    return "[" + text + "]";
  };
  return "{\"dtype\": " + std::to_string(meta.dtype) + ", \"sizes\": " + list(meta.sizes) +
         ", \"strides\": " + list(meta.strides) +
         ", \"storage_offset\": " + number(meta.storage_offset) +
         ", \"requires_grad\": " + (meta.requires_grad ? "true" : "false") + "}";
}

json::element Scope::meta_of(const Slot& slot) const {
  if (slot.form == Form::kElement) return elements_[slot.at];
  const auto text =
      slot.form == Form::kFixed ? json_of(types_[slot.at].meta) : std::string(texts_[slot.at]);
  json::element meta;
  if (parser_.parse(text).get(meta) != simdjson::SUCCESS)
    throw std::bad_alloc();  // the text is valid
  return meta;
}

void Scope::collect_sizes(Kind kind, json::element meta) {
  if (kind == Kind::kTensor) {
    for (const json::element size : array_member(as_object(meta), "sizes"))
      building_.symbols.collect(size);
  } else if (kind == Kind::kInt || kind == Kind::kBool) {
    building_.symbols.collect(meta);
  }
}

tmeter_id Scope::use(std::string_view name) const { return used(slots_.find(name), name); }

tmeter_id Scope::use_at(uint32_t number) const { return used(&slots_.at(number), name_at(number)); }

tmeter_id Scope::used(const Slot* slot, std::string_view name) {
  if (!slot || slot->value == 0)
    throw BadFile(in_quotes(name) +
                  " is used before anything defines it: the graph has a cycle or a dangling "
                  "reference");
  return slot->value;
}

bool Scope::is_defined(std::string_view name) const {
  const auto* slot = slots_.find(name);
  return slot && slot->value != 0;
}

void Scope::define(std::string_view name, tmeter_id value) {
  uint32_t last = 0;
  define(name, value, last);
}

void Scope::define(std::string_view name, tmeter_id value, uint32_t& last) {
  const auto position = slots_.find_next(name, last);
  auto& slot =
      position ? slots_.at(position - 1) : *slots_.insert(building_.texts.keep(name), {}).first;
  if (slot.value != 0) throw BadFile(in_quotes(name) + " is defined twice");
  slot.value = value;
}

tmeter_id Scope::make(std::string_view name) { return made(slots_.find(name), name); }

tmeter_id Scope::make_at(uint32_t number) { return made(&slots_.at(number), name_at(number)); }

tmeter_id Scope::made(Slot* slot, std::string_view name) {
  if (!slot || slot->kind == Kind::kNone)
    throw BadFile("the file records no type and sizes for " + in_quotes(name));
  if (slot->value != 0) throw BadFile(in_quotes(name) + " is defined twice");
  slot->value = within([&] { return in_quotes(name); }, [&] { return new_value(*slot); });
  return slot->value;
}

std::optional<bool> Scope::condition_value(json::element argument) const {
  auto tagged = as_tagged(argument);
  if (tagged.kind == "as_sym_bool") tagged = as_tagged(tagged.value);
  if (tagged.kind == "as_bool") return as_bool(tagged.value);
  if (tagged.kind != "as_name") return std::nullopt;
  const auto* slot = slots_.find(as_text(tagged.value));
  if (!slot || slot->kind != Kind::kBool) return std::nullopt;
  const auto value = building_.symbols.recorded_value(meta_of(*slot));
  return value ? std::optional(*value != 0) : std::nullopt;
}

std::optional<json::element> Scope::size_meta(std::string_view name) const {
  const auto* slot = slots_.find(name);
  if (!slot || (slot->kind != Kind::kInt && slot->kind != Kind::kBool)) return std::nullopt;
  return meta_of(*slot);
}

json::object Scope::tensor_meta(std::string_view name) const {
  const auto* slot = slots_.find(name);
  if (!slot || slot->kind != Kind::kTensor)
    throw BadFile("the file records no type and sizes for " + in_quotes(name));
  return as_object(meta_of(*slot));
}

Scope::Recorded Scope::recorded(std::string_view name, uint32_t& last) const {
  const auto entry = slots_.find_next(name, last);
  if (entry == 0 || slots_.at(entry - 1).kind != Kind::kTensor)
    throw BadFile("the graph records no type and sizes for " + in_quotes(name));
  const auto& slot = slots_.at(entry - 1);
  if (slot.form == Form::kFixed) {
    const auto& fixed = types_[slot.at].meta;
    return {scalar_type(fixed.dtype), fixed.sizes, fixed.strides};
  }
  const auto meta = as_object(meta_of(slot));
  recorded_.clear();
  for (const auto key : {"sizes", "strides"})
    for (const json::element e : array_member(meta, key))
      recorded_.push_back(building_.symbols.value(e));
  const auto rank = array_member(meta, "sizes").size();
  return {read_dtype(meta), std::span(recorded_).first(rank), std::span(recorded_).subspan(rank)};
}

tmeter_id Scope::tensor_of(const Slot& slot) {
  if (slot.form == Form::kFixed) {
    auto& type = types_[slot.at];
    dims_.clear();
    for (const auto size : type.meta.sizes) dims_.push_back({size, 0, 0});
    if (!type.is_checked) check_shape(dims_);
    type.is_checked = true;
    return building_.graph.tensor_value(scalar_type(type.meta.dtype), dims_);
  }
  const auto meta = as_object(meta_of(slot));
  read_sizes(building_.symbols, meta, dims_);
  return building_.graph.tensor_value(read_dtype(meta), dims_);
}

tmeter_id Scope::new_value(const Slot& slot) {
  auto& graph = building_.graph;
  switch (slot.kind) {
    case Kind::kTensor:
      return tensor_of(slot);
    case Kind::kInt:
    case Kind::kBool:  // as the integer 0 or 1, so that it follows the symbols' values
      return graph.integer(building_.symbols.dim(meta_of(slot)));
    case Kind::kFloat:
      return new_float(meta_of(slot));
    default:
      return graph.other(text_member(as_object(meta_of(slot)), "class_fqn"));
  }
}

tmeter_id Scope::new_float(json::element meta) {
  const auto value = building_.symbols.real(meta);
  return value ? building_.graph.real(*value)
               : building_.graph.other("a number known at run time only");
}

}  // namespace pt2
