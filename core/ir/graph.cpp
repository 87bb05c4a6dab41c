#include "core/ir/graph.hpp"

#include <tmeter/abi/graph.h>

#include <algorithm>
#include <cstring>

#include "core/base/checked.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/ir/size_demands.hpp"

namespace tmeter::core {
namespace {

/// Elements and bytes of a tensor must fit 63 bits (16 bytes is the widest element).
void check_size(std::span<const int64_t> dims) {
  int64_t numel = 16;
  for (const auto d : dims) {
    const auto product = d < 0 ? std::nullopt : checked_mul(numel, d);
    if (!product) {
      std::string text;
      for (const auto x : dims) text += (text.empty() ? "" : ", ") + std::to_string(x);
      throw Error(ErrorKind::kModel, "a tensor has the impossible shape [" + text + "]");
    }
    numel = *product;
  }
}

std::string range_text(const Symbol& s) {
  return std::to_string(s.min) + "…" +
         (s.max == INT64_MAX ? std::string("any") : std::to_string(s.max));
}

}  // namespace

std::string_view Graph::property(std::string_view key) const {
  const auto it = properties_.find(key);
  return it == properties_.end() ? std::string_view() : std::string_view(it->second);
}

const Metadata* Graph::find_metadata(std::string_view space, std::string_view key) const {
  const auto it = metadata_index_.find({space, key});
  return it == metadata_index_.end() ? nullptr : it->second;
}

std::string_view Graph::keep(std::string_view text) {
  if (text.empty()) return {};
  auto* copy = static_cast<char*>(arena_.allocate(text.size(), 1));
  std::memcpy(copy, text.data(), text.size());
  return {copy, text.size()};
}

std::string_view Graph::intern(std::string_view text) {
  if (text.empty()) return {};
  const auto it = strings_.find(text);
  return it != strings_.end() ? *it : *strings_.insert(keep(text)).first;
}

void Graph::evaluate() {
  if (expressions_.size() == 0) return;
  expressions_.evaluate(symbols_);
  for (auto& v : values_) {
    if (v.expr) v.i = expressions_.value(v.expr);
    if (v.dim_exprs.empty()) continue;
    for (size_t i = 0; i < v.dims.size(); ++i) {
      if (v.dim_exprs[i]) v.dims[i] = expressions_.value(v.dim_exprs[i]);
    }
    check_size(v.dims);
  }
}

const CallContents& Graph::contents(const ModuleCall& call) const {
  std::call_once(indexed_, [this] { call_index_ = std::make_unique<CallIndex>(*this); });
  return call_index_->of(call);
}

bool Graph::has_input_requests() const {
  return std::any_of(inputs_.begin(), inputs_.end(),
                     [](const Input& i) { return !i.requested.empty(); });
}

const Node* Graph::node_with_unmet_demand() const {
  const auto it = std::ranges::find_if_not(nodes_with_size_demands_,
                                           [](const Node* n) { return meets_size_demands(*n); });
  return it == nodes_with_size_demands_.end() ? nullptr : *it;
}

void Graph::set_values(std::span<const int64_t> values) {
  for (size_t i = 0; i < symbols_.size(); ++i) symbols_[i].value = values[i];
  evaluate();
}

void Graph::assign(std::span<const int64_t> values) {
  std::vector<int64_t> before;
  for (const auto& s : symbols_) before.push_back(s.value);
  try {
    set_values(values);
  } catch (...) {
    set_values(before);
    throw;
  }
}

size_t Graph::find_symbol(std::string_view name) const {
  for (size_t i = 0; i < symbols_.size(); ++i) {
    if (symbols_[i].name == name || (!name.empty() && symbols_[i].place == name)) return i;
  }
  std::vector<std::string> names;
  std::string listed;
  for (const auto& s : symbols_) {
    names.emplace_back(s.name);
    listed += (listed.empty() ? "" : ", ") + names.back();
    if (s.place.empty()) continue;
    names.emplace_back(s.place);
    listed += " (" + names.back() + ")";
  }
  throw Error(ErrorKind::kUsage,
              "the model has no symbol '" + std::string(name) + "'" + did_you_mean(name, names) +
                  (listed.empty() ? "; all its sizes are fixed" : "; it has: " + listed));
}

void Graph::require_in_range(size_t symbol, int64_t value, std::string_view option) const {
  const auto& s = symbols_[symbol];
  if (value >= s.least() && value <= s.max) return;
  throw Error(ErrorKind::kUsage, std::string(option) + " " + std::string(s.name) + "=" +
                                     std::to_string(value) + ": the model declares the range " +
                                     range_text(s));
}

void Graph::bind(const std::vector<std::pair<std::string, int64_t>>& bindings) {
  std::vector<int64_t> values;
  for (const auto& s : symbols_) values.push_back(s.value);
  for (const auto& [name, value] : bindings) {
    const size_t symbol = find_symbol(name);
    require_in_range(symbol, value, "--bind");
    values[symbol] = value;
  }
  if (!bindings.empty()) assign(values);
  for (const auto& [name, value] : bindings) mark_given(find_symbol(name), true);
}

namespace {

/// Calls `found` with every symbol that is a whole dim of `v`, or the number `v`, and with its
/// place.
template <class Found>
void for_each_place(const Value& v, const std::string& place, const Expressions& expressions,
                    const Found& found) {
  if (const auto symbol = expressions.symbol_of(v.expr)) found(*symbol, place);
  for (size_t i = 0; i < v.dim_exprs.size(); ++i) {
    const auto symbol = v.expressions->symbol_of(v.dim_exprs[i]);
    if (symbol) found(*symbol, place + "." + std::to_string(i));
  }
  for (size_t i = 0; i < v.items.size(); ++i)
    for_each_place(*v.items[i], place + "." + std::to_string(i), expressions, found);
}

}  // namespace

void Graph::name_places() {
  if (symbols_.empty()) return;
  for (const auto& input : inputs_) {
    for_each_place(*input.value, std::string(input.name), expressions_,
                   [&](size_t s, const std::string& place) {
                     if (!input.name.empty() && symbols_[s].place.empty())
                       symbols_[s].place = intern(place);
                   });
  }
}

}  // namespace tmeter::core
