// What can be told of a piece of nodes without those before it, and so on any thread: which names
// of the graph they speak of, by number, and which of their texts and constants are the same. What
// is left for who takes the pieces in order is to number what is new in each.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "name_map.hpp"
#include "plain_nodes.hpp"

namespace pt2 {

/// Texts of one piece, numbered as they appear.
class PieceTexts {
 public:
  void clear() { index_.clear(); }
  uint32_t number(std::string_view text) {
    const auto next = static_cast<uint32_t>(index_.entries().size());
    return *index_.insert(text, next).first;
  }
  size_t size() const { return index_.entries().size(); }
  std::string_view operator[](size_t number) const { return index_.entries()[number].name; }

 private:
  NameMap<uint32_t> index_;
};

class NodeNumbers {
 public:
  struct OfNode {
    uint32_t target = 0, trace = 0;  // in targets, traces
  };
  struct OfValue {
    uint32_t name = 0;  // in names
    uint32_t at = 0;    // a tensor's: its number plus one, 0 when there is none; else in constants
  };

  /// `names`: has find_next and is_named, as Scope has them; about the first so many are inputs.
  template <class Names>
  void read(const PlainNodes& plain, const Names& names, size_t inputs);

  // Beside those of PlainNodes: its nodes, values and names (numbers plus one, again).
  std::vector<OfNode> nodes;
  std::vector<OfValue> values;
  std::vector<uint32_t> tensors;
  PieceTexts targets, traces, names;
  std::vector<uint32_t> constants;  // of each the first value that is it; some are there twice

 private:
  /// Looks for names where the one before was found.
  template <class Names>
  struct Finder {
    const Names& names;
    size_t inputs;
    uint32_t last_result = 0, last_input = 0;
    uint32_t result(std::string_view name) { return names.find_next(name, last_result); }
    uint32_t used(std::string_view name);
  };
  void begin(const PlainNodes& plain);
  uint32_t constant(const PlainNodes& plain, uint32_t value);
  template <class Find>
  void read_value(const PlainNodes& plain, size_t i, Find&& find);

  std::vector<uint32_t> recent_;  // of constants, plus one: by a hash of what they are
};

/// Most that is used is what has been made last, or a parameter, and those come in their order.
template <class Names>
uint32_t NodeNumbers::Finder<Names>::used(std::string_view name) {
  if (last_result != 0 && names.is_named(last_result - 1, name)) return last_result;
  auto last = last_input;
  const auto entry = names.find_next(name, last);
  if (entry <= inputs) last_input = last;
  return entry;
}

template <class Find>
void NodeNumbers::read_value(const PlainNodes& plain, size_t i, Find&& find) {
  const auto& value = plain.values[i];
  auto& out = values[i];
  out.name = names.number(value.name);
  if (value.kind == PlainValue::Kind::kTensor) {
    out.at = find(value.text);
  } else if (value.kind == PlainValue::Kind::kTensors) {
    for (size_t n = value.first; n < value.first + value.count; ++n)
      tensors[n] = find(plain.names[n]);
  } else if (value.kind != PlainValue::Kind::kText) {
    out.at = constant(plain, static_cast<uint32_t>(i));
  }
}

template <class Names>
void NodeNumbers::read(const PlainNodes& plain, const Names& all, size_t inputs) {
  begin(plain);
  Finder<Names> finder{all, inputs};
  const auto used = [&](std::string_view name) { return finder.used(name); };
  const auto result = [&](std::string_view name) { return finder.result(name); };
  for (size_t n = 0; n < plain.nodes.size(); ++n) {
    const auto& node = plain.nodes[n];
    if (node.is_unusual) continue;
    for (size_t i = 0; i < node.arguments; ++i) read_value(plain, node.first_argument + i, used);
    for (size_t i = 0; i < node.results; ++i) read_value(plain, node.first_result + i, result);
    nodes[n] = {targets.number(node.target), traces.number(node.trace)};
  }
}

}  // namespace pt2
