#include "scope.hpp"

#include "../common/json_text.hpp"
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
  read_tables(graph);
}

bool AskedFor::contains(std::string_view name) {
  if (!names_) {
    names_.emplace();
    for (const auto& input : signature_.inputs) names_->insert(input.name, true);
    for (const auto& tensor : signature_.tensors) names_->insert(tensor.argument, true);
  }
  return names_->find_entry(name) != 0;
}

Scope::Scope(Building& building, json::object graph, const Series& tensors, AskedFor& asked_for)
    : building_(building) {
  if (tensors.is_lasting()) {
    read_table(graph, "tensor_values", Kind::kTensor);
  } else {
    within([] { return "tensor_values"; },
           [&] {
             const auto read = [](PlainTensors& plain, std::string_view piece) {
               return plain.read_metas(piece);
             };
             const auto take = [&](const PlainTensors& plain) {
               building_.notes.check_cancelled();
               add_tensors(plain, tensors.pieces());
             };
             tensors.each<PlainTensors>(
                 read, take, [&](json::element piece) { add_tensors(piece, asked_for); });
           });
  }
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

void Scope::add_tensors(json::object table, AskedFor& asked_for) {
  for (const auto field : table) {
    within([&] { return in_quotes(field.key); },
           [&] {
             collect_sizes(Kind::kTensor, field.value);
             add_tensor(field.key, NameMap<Slot>::short_hash(field.key),
                        shortened(as_object(field.value), asked_for.contains(field.key)));
           });
  }
}

/// One of so many pieces of the table.
void Scope::add_tensors(const PlainTensors& plain, size_t pieces) {
  constexpr size_t kSoon = 16;
  if (slots_.entries().empty()) slots_.reserve(plain.tensors.size() * pieces);  // or nearly so
  for (size_t i = 0; i < plain.tensors.size(); ++i) {
    if (i + kSoon < plain.tensors.size()) {
      slots_.expect(plain.tensors[i + kSoon].hash);
      __builtin_prefetch(plain.tensors[i + kSoon].name.data());
    }
    const auto& t = plain.tensors[i];
    const auto sizes = std::span(plain.numbers).subspan(t.meta.first, 2 * t.meta.rank);
    plain_.assign(sizes.begin(), sizes.end());
    plain_.insert(plain_.end(), {t.meta.storage_offset, t.meta.requires_grad});
    Slot slot;
    slot.kind = Kind::kTensor;
    slot.form = Form::kAll;
    slot.at = type_of(t.meta.dtype, t.meta.rank, plain_);
    within([&] { return in_quotes(t.name); }, [&] { add_tensor(t.name, t.hash, slot); });
  }
}

uint32_t Scope::type_of(int64_t dtype, size_t rank, std::span<const int64_t> numbers) {
  const std::array<int64_t, 2> first{dtype, static_cast<int64_t>(rank)};
  key_.assign(reinterpret_cast<const char*>(first.data()), sizeof first);
  key_.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
  const auto next = static_cast<uint32_t>(types_.size());
  const auto keep = [&](std::string_view text) { return building_.texts.keep(text); };
  const auto [known, added] = type_index_.insert_kept(key_, next, keep);
  if (!added) return *known;
  types_.push_back({static_cast<int16_t>(dtype), static_cast<uint8_t>(rank), false,
                    static_cast<uint32_t>(numbers_.size())});
  numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
  return next;
}

void Scope::add_tensor(std::string_view name, uint32_t hash, const Slot& slot) {
  const auto keep = [&](std::string_view text) { return building_.texts.keep(text); };
  if (!slots_.insert_kept(name, hash, slot, keep).second) loading::refuse_repeated(name);
}

Scope::Slot Scope::shortened(json::object meta, bool in_full) {
  Slot slot;
  slot.kind = Kind::kTensor;
  plain_.clear();
  const auto dtype = find(meta, "dtype");
  int64_t number = 0;
  const bool known = dtype && dtype->get(number) == simdjson::SUCCESS && number >= 0 &&
                     number <= INT16_MAX && read_plain_list(meta, "sizes");
  const auto rank = plain_.size();
  if (known && (!in_full || read_rest(meta, rank))) {
    slot.form = in_full ? Form::kAll : Form::kSizes;
    slot.at = type_of(number, rank, plain_);
    return slot;
  }
  slot.form = Form::kText;
  slot.at = static_cast<uint32_t>(texts_.size());
  texts_.push_back(building_.texts.keep(simdjson::minify(meta)));
  return slot;
}

namespace {

/// {"as_int": 8}; false for anything else.
bool is_plain(json::element size, int64_t& number) {
  json::object object;
  if (size.get(object) != simdjson::SUCCESS || object.size() != 1) return false;
  const auto field = *object.begin();
  return is(field.key, "as_int") && field.value.get(number) == simdjson::SUCCESS;
}

}  // namespace

/// Appends its numbers; false when one is none: it may follow from a symbol, or be wrong, which is
/// told where it is used.
bool Scope::read_plain_list(json::object meta, std::string_view key) {
  constexpr size_t kMostDims = 64;
  const auto found = find(meta, key);
  json::array list;
  if (!found || found->get(list) != simdjson::SUCCESS || list.size() > kMostDims) return false;
  for (const json::element size : list)
    if (!is_plain(size, plain_.emplace_back())) return false;
  return true;
}

bool Scope::read_rest(json::object meta, size_t rank) {
  const auto begin = plain_.size();
  const auto offset = find(meta, "storage_offset"), gradient = find(meta, "requires_grad");
  bool wanted = false;
  if (!read_plain_list(meta, "strides") || plain_.size() - begin != rank) return false;
  if (!offset || !is_plain(*offset, plain_.emplace_back())) return false;
  if (!gradient || gradient->get(wanted) != simdjson::SUCCESS) return false;
  plain_.push_back(wanted);
  return true;
}

/// As the file has it, as far as anyone asks.
std::string Scope::long_form(const Slot& slot) const {
  const auto& type = types_[slot.at];
  auto at = numbers_.begin() + type.first;
  const auto next = [&] { return "{\"as_int\": " + std::to_string(*at++) + "}"; };
  const auto list = [&](const char* key) {
    std::string text = std::string(", \"") + key + "\": [";
    for (size_t i = 0; i < type.rank; ++i) text += (i ? ", " : "") + next();
    return text + "]";
  };
  auto text = "{\"dtype\": " + std::to_string(type.dtype);
  text += list("sizes");
  text += list("strides");
  text += ", \"storage_offset\": " + next();
  return text + ", \"requires_grad\": " + (*at ? "true" : "false") + "}";
}

json::element Scope::meta_of(const Slot& slot) const {
  if (slot.form == Form::kElement) return elements_[slot.at];
  json::element meta;
  const auto text = slot.form == Form::kAll ? long_form(slot) : std::string(texts_[slot.at]);
  if (again_.parse(text).get(meta) != simdjson::SUCCESS)
    throw std::bad_alloc();  // it has been parsed before
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
  const auto known = slots_.find_next(name, last);
  auto& slot = known ? slots_.at(known - 1) : *slots_.insert(building_.texts.keep(name), {}).first;
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

std::optional<bool> Scope::known_condition(json::element argument) const {
  auto tagged = as_tagged(argument);
  if (tagged.kind == "as_sym_bool") tagged = as_tagged(tagged.value);
  if (tagged.kind == "as_bool") return as_bool(tagged.value);
  if (tagged.kind != "as_name") return std::nullopt;
  const auto* slot = slots_.find(as_text(tagged.value));
  if (!slot || slot->kind != Kind::kBool) return std::nullopt;
  const auto value = building_.symbols.recorded_value(meta_of(*slot));
  return value ? std::optional(*value != 0) : std::nullopt;
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
  if (slot.form == Form::kAll) {
    const auto& type = types_[slot.at];
    const auto numbers = std::span(numbers_).subspan(type.first, 2 * size_t{type.rank});
    return {scalar_type(type.dtype), numbers.first(type.rank), numbers.last(type.rank)};
  }
  const auto meta = as_object(meta_of(slot));
  asked_.clear();
  for (const auto key : {"sizes", "strides"})
    for (const json::element e : array_member(meta, key)) asked_.push_back(building_.symbols.value(e));
  const auto rank = array_member(meta, "sizes").size();
  return {read_dtype(meta), std::span(asked_).first(rank), std::span(asked_).subspan(rank)};
}

tmeter_id Scope::tensor_of(const Slot& slot) {
  if (slot.form == Form::kSizes || slot.form == Form::kAll) {
    auto& type = types_[slot.at];
    dims_.clear();
    for (size_t i = 0; i < type.rank; ++i) dims_.push_back({numbers_[type.first + i], 0, 0});
    if (!type.is_checked) check_shape(dims_);
    type.is_checked = true;
    return building_.graph.tensor_value(scalar_type(type.dtype), dims_);
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
