#include "core/report_reader/graph_values.hpp"

#include <tmeter/abi/graph.h>

#include <algorithm>
#include <limits>
#include <tmeter/cpp/dtype.hpp>

#include "core/base/text.hpp"
#include "core/ir/limits.hpp"

namespace tmeter::core::report_reader {
namespace {

using Type = simdjson::dom::element_type;

constexpr size_t kAnyLeaf = SIZE_MAX;

/// The detail of item i of a list whose detail is `list`.
class ItemDetails {
 public:
  explicit ItemDetails(const Item* list) {
    if (!list || list->is_null()) return;
    array_ = list->list();
    next_ = array_->begin();
  }
  /// The detail of the next item, or null.
  const Item* next() {
    if (!array_ || !(next_ != array_->end())) return nullptr;
    now_.emplace(*next_, "details");
    ++next_;
    return now_->is_null() ? nullptr : &*now_;
  }

 private:
  std::optional<simdjson::dom::array> array_;
  simdjson::dom::array::iterator next_;
  std::optional<Item> now_;
};

double number_in_words(std::string_view word) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word != "inf" && word != "-inf") refuse("'" + printable(word) + "' is not a number");
  return word == "inf" ? kInfinity : -kInfinity;
}

void require_depth(size_t depth) {
  if (depth > limits::kListDepth) refuse("lists are nested more than 64 deep");
}

}  // namespace

void GraphValues::add_symbol(std::string_view name, Id symbol, int64_t value) {
  symbols_.try_emplace(std::string(name), KnownSymbol{builder_.expr_symbol(symbol), value});
}

void GraphValues::add_tensor(std::string_view name, Id tensor) {
  if (!name.empty()) tensors_.try_emplace(std::string(name), tensor);
}

void GraphValues::add_input(std::string_view name, Id value) {
  inputs_.try_emplace(std::string(name), value);
}

std::vector<int64_t> GraphValues::shape(const Item& list) const {
  std::vector<int64_t> sizes;
  for (const auto e : list.list()) {
    sizes.push_back(Item(e, list.name()).integer());
    if (sizes.back() < 0) refuse("'shape' has a negative size");
    if (sizes.size() > limits::kRank) refuse("a tensor has more than 64 dimensions");
  }
  return sizes;
}

DimSpec GraphValues::symbolic_dim(std::string_view text, int64_t size) {
  if (text == std::to_string(size)) return {size, 0};
  const auto symbol = symbols_.find(std::string(text));
  if (symbol != symbols_.end()) {
    if (symbol->second.value != size)
      refuse("a dim is " + std::to_string(size) + ", and its symbol '" + printable(text) + "' is " +
             std::to_string(symbol->second.value));
    return {0, symbol->second.expression};
  }
  auto& expression = texts_[{std::string(text), size}];
  if (!expression) expression = builder_.expr_text(text, size);
  return {0, expression};
}

std::vector<DimSpec> GraphValues::dims(const Members& m) {
  const auto sizes = shape(m.at("shape"));
  std::vector<DimSpec> out;
  for (const auto size : sizes) out.push_back({size, 0});
  const auto symbolic = m.find("symbolic_shape");
  if (!symbolic) return out;
  const auto texts = symbolic->list();
  if (texts.size() != sizes.size()) refuse("'symbolic_shape' and 'shape' differ in length");
  size_t i = 0;
  for (const auto e : texts) {
    out[i] = symbolic_dim(Item(e, "symbolic_shape").text(), sizes[i]);
    ++i;
  }
  return out;
}

bool GraphValues::is_tensor(Id id, int32_t dtype, const std::vector<DimSpec>& dims) const {
  const auto& v = *builder_.peek(id);
  if (v.kind != TMETER_VALUE_TENSOR || v.dtype != dtype || v.dims.size() != dims.size())
    return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto expression = v.dim_exprs.empty() ? 0 : v.dim_exprs[i];
    if (expression != dims[i].expr) return false;
    if (!expression && v.dims[i] != dims[i].value) return false;
  }
  return true;
}

bool GraphValues::is_scalar(Id id, const Item& plain) const {
  const auto& v = *builder_.peek(id);
  switch (plain.type()) {
    case Type::INT64:
      return v.kind == TMETER_VALUE_INT && v.i == plain.integer();
    case Type::BOOL:
      return v.kind == TMETER_VALUE_BOOL && (v.i != 0) == plain.boolean();
    case Type::NULL_VALUE:
      return v.kind == TMETER_VALUE_NONE;
    default:
      return v.kind != TMETER_VALUE_TENSOR && v.kind != TMETER_VALUE_LIST;
  }
}

/// The value that a node makes, or writes into and returns. Without "result" (older reports),
/// the first equal one of its results.
GraphValues::Id GraphValues::result_of_node(const Members& from, const std::vector<DimSpec>* dims,
                                            int32_t dtype, const Item& plain,
                                            std::string_view kind) {
  const auto node = from.at("node").index(limits::kNodes);
  const auto result_index = from.find("result");
  const size_t leaf = result_index ? result_index->index(limits::kValues) : kAnyLeaf;
  const auto fits = [&](Id id) {
    return dims ? is_tensor(id, dtype, *dims) : is_scalar(id, plain);
  };
  if (node >= node_count()) {
    auto& id = pending_results_[{node, leaf == kAnyLeaf ? 0 : leaf}];
    if (!id) id = dims ? builder_.value_from_outside(dtype, *dims) : scalar(plain, kind);
    if (!fits(id))
      refuse("two uses describe a result differently, that of node " + std::to_string(node));
    return id;
  }
  const size_t begin = first_leaf_[node];
  const size_t end = node + 1 < node_count() ? first_leaf_[node + 1] : leaves_.size();
  if (leaf != kAnyLeaf && leaf < end - begin && fits(leaves_[begin + leaf]))
    return leaves_[begin + leaf];
  if (leaf == kAnyLeaf)
    for (size_t i = begin; i < end; ++i)
      if (fits(leaves_[i])) return leaves_[i];
  refuse("a value names node " + std::to_string(node) +
         " as its producer, which does not produce it");
}

GraphValues::Id GraphValues::tensor(const Members& m, bool look_up) {
  const auto sizes = dims(m);
  const auto dtype = DType::parse(m.at("dtype").text()).id();
  if (!look_up) return builder_.value_tensor(dtype, sizes);
  if (const auto name = m.find("tensor")) {
    const auto it = tensors_.find(std::string(name->text()));
    if (it == tensors_.end())
      refuse("the tensor '" + printable(name->text()) + "' is not among its 'tensors'");
    return builder_.value_bound(it->second);
  }
  if (m.find("node")) return result_of_node(m, &sizes, dtype, m.at("dtype"), "");
  if (const auto name = m.find("input")) {
    const auto it = inputs_.find(std::string(name->text()));
    if (it == inputs_.end())
      refuse("the input '" + printable(name->text()) + "' is not among its 'inputs'");
    if (is_tensor(it->second, dtype, sizes)) return it->second;
  }
  return builder_.value_from_outside(dtype, sizes);
}

GraphValues::Id GraphValues::scalar(const Item& value, std::string_view kind) {
  switch (value.type()) {
    case Type::NULL_VALUE:
      return builder_.value_none();
    case Type::BOOL:
      return builder_.value_bool(value.boolean());
    case Type::STRING:
      if (kind == "dtype") return builder_.value_dtype(DType::parse(value.text()).id());
      if (kind == "float") return builder_.value_float(number_in_words(value.text()));
      if (kind == "other") return builder_.value_other(value.text());
      return builder_.value_text(value.text());
    case Type::DOUBLE:
      return builder_.value_float(value.real());
    default:
      return builder_.value_int({value.integer(), 0});
  }
}

GraphValues::Id GraphValues::read_list(const Item& value, const Item* detail, bool look_up,
                                       size_t depth) {
  require_depth(depth);
  ItemDetails details(detail);
  std::vector<Id> items;
  for (const auto e : value.list())
    items.push_back(read(Item(e, value.name()), details.next(), look_up, depth + 1));
  return builder_.value_list(items);
}

GraphValues::Id GraphValues::read(const Item& value, const Item* detail, bool look_up,
                                  size_t depth) {
  if (value.is(Type::ARRAY)) return read_list(value, detail, look_up, depth);
  if (value.is(Type::OBJECT)) return tensor(value.members(), look_up);
  if (!detail) return scalar(value, "");
  const auto m = detail->members();
  const auto kind = m.text("kind");
  if (look_up && m.find("node")) return result_of_node(m, nullptr, 0, value, kind);
  return scalar(value, kind);
}

GraphValues::Id GraphValues::used(const Item& value, const Item* detail) {
  return read(value, detail, true, 0);
}

GraphValues::Id GraphValues::fresh(const Item& value, const Item* detail) {
  return read(value, detail, false, 0);
}

GraphValues::Id GraphValues::result(const Item& value, const Item* detail, size_t& leaf,
                                    size_t depth) {
  if (value.is(Type::ARRAY)) {
    require_depth(depth);
    ItemDetails details(detail);
    std::vector<Id> items;
    for (const auto e : value.list())
      items.push_back(result(Item(e, value.name()), details.next(), leaf, depth + 1));
    return builder_.value_list(items);
  }
  const auto entry = pending_results_.find({node_count() - 1, leaf++});
  Id id = 0;
  if (entry == pending_results_.end()) {
    id = read(value, detail, false, depth);
  } else {
    id = entry->second;
    const bool same = value.is(Type::OBJECT)
                          ? is_tensor(id, DType::parse(value.members().at("dtype").text()).id(),
                                      dims(value.members()))
                          : is_scalar(id, value);
    if (!same) refuse("a use of one of its results contradicts it");
    pending_results_.erase(entry);
  }
  leaves_.push_back(id);
  return id;
}

std::vector<GraphValues::Id> GraphValues::results(const Item& list, const Item* details) {
  first_leaf_.push_back(leaves_.size());
  ItemDetails each(details);
  std::vector<Id> ids;
  size_t leaf = 0;
  for (const auto e : list.list()) ids.push_back(result(Item(e, "results"), each.next(), leaf, 0));
  return ids;
}

void GraphValues::require_all_produced() const {
  if (!pending_results_.empty())
    refuse("a value names node " + std::to_string(pending_results_.begin()->first.first) +
           " as its producer, which does not produce it");
}

}  // namespace tmeter::core::report_reader
