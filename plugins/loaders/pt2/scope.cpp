#include "scope.hpp"

#include "dtypes.hpp"

namespace pt2 {

namespace {

/// The host refuses these too, but does not know their names.
void check_shape(const std::vector<tmeter_dim>& dims) {
  constexpr size_t kMostDims = 64;
  if (dims.size() > kMostDims)
    throw BadFile("it has " + std::to_string(dims.size()) + " sizes; at most 64 are accepted");
  int64_t bytes = 16;  // of the widest element
  for (const auto& d : dims) {
    if (d.value < 0) throw BadFile("it has the negative size " + std::to_string(d.value));
    if (!__builtin_mul_overflow(bytes, d.value, &bytes)) continue;
    std::string shape;
    for (const auto& each : dims) shape += (shape.empty() ? "" : ", ") + std::to_string(each.value);
    throw BadFile("its size exceeds 2^63 bytes, with the shape [" + shape + "]");
  }
}

}  // namespace

void read_sizes(Symbols& symbols, json::object meta, std::vector<tmeter_dim>& dims) {
  dims.clear();
  for (const json::element size : array_member(meta, "sizes")) dims.push_back(symbols.dim(size));
  check_shape(dims);
}

tmeter::DType read_dtype(json::object meta) {
  return scalar_type(read_member(meta, "dtype", as_integer));
}

Scope::Scope(Building& building, json::object graph) : building_(building) {
  read_table(graph, "tensor_values", Kind::kTensor);
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
           for (const auto field : table) {
             within([&] { return in_quotes(field.key); },
                    [&] {
                      const auto [slot, added] = slots_.insert(field.key, {kind, 0, field.value});
                      if (!added) throw BadFile("the name is there twice");
                      collect_sizes(*slot);
                    });
           }
         });
}

void Scope::collect_sizes(const Slot& slot) {
  if (slot.kind == Kind::kTensor) {
    for (const json::element size : array_member(as_object(slot.meta), "sizes"))
      building_.symbols.collect(size);
  } else if (slot.kind == Kind::kInt || slot.kind == Kind::kBool) {
    building_.symbols.collect(slot.meta);
  }
}

tmeter_id Scope::use(std::string_view name) const {
  const auto* slot = slots_.find(name);
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
  auto& slot = *slots_.insert(name, {}).first;
  if (slot.value != 0) throw BadFile(in_quotes(name) + " is defined twice");
  slot.value = value;
}

tmeter_id Scope::make(std::string_view name) {
  auto* slot = slots_.find(name);
  if (!slot || slot->kind == Kind::kNone)
    throw BadFile("the file records no type and sizes for " + in_quotes(name));
  if (slot->value != 0) throw BadFile(in_quotes(name) + " is defined twice");
  slot->value = within([&] { return in_quotes(name); }, [&] { return new_value(*slot); });
  return slot->value;
}

std::optional<bool> Scope::known_condition(json::element argument) const {
  auto tagged = as_tagged(argument);
  if (tagged.kind == "as_sym_bool") tagged = as_tagged(tagged.value);
  if (tagged.kind == "as_bool") return as_bool(tagged.value);
  if (tagged.kind != "as_name") return std::nullopt;
  const auto* slot = slots_.find(as_text(tagged.value));
  if (!slot || slot->kind != Kind::kBool) return std::nullopt;
  const auto value = building_.symbols.recorded_value(slot->meta);
  return value ? std::optional(*value != 0) : std::nullopt;
}

json::object Scope::tensor_meta(std::string_view name) const {
  const auto* slot = slots_.find(name);
  if (!slot || slot->kind != Kind::kTensor)
    throw BadFile("the file records no type and sizes for " + in_quotes(name));
  return as_object(slot->meta);
}

tmeter_id Scope::new_value(const Slot& slot) {
  auto& graph = building_.graph;
  switch (slot.kind) {
    case Kind::kTensor: {
      const auto meta = as_object(slot.meta);
      read_sizes(building_.symbols, meta, dims_);
      return graph.tensor_value(read_dtype(meta), dims_);
    }
    case Kind::kInt:
    case Kind::kBool:  // as the integer 0 or 1, so that it follows the symbols' values
      return graph.integer(building_.symbols.dim(slot.meta));
    case Kind::kFloat:
      return new_float(slot.meta);
    default:
      return graph.other(text_member(as_object(slot.meta), "class_fqn"));
  }
}

tmeter_id Scope::new_float(json::element meta) {
  const auto value = building_.symbols.real(meta);
  return value ? building_.graph.real(*value)
               : building_.graph.other("a number known at run time only");
}

}  // namespace pt2
