// What can be told of a piece of nodes without those before it, and so on any thread: which names
// of the graph they speak of, by number, and which of their texts and constants are the same. What
// is left for who takes the pieces in order is to number what is new in each.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "name_map.hpp"
#include "plain_nodes.hpp"

namespace pt2 {

/// Texts of one piece, numbered as they appear; one that is there again may get a number of its
/// own, where looking for it would take longer than what that saves.
class PieceTexts {
 public:
  void clear();
  uint32_t number(std::string_view text) {
    auto& recent = recent_[place_of(text)];
    if (recent == 0 || texts_[recent - 1] != text) {
      texts_.push_back(text);
      recent = static_cast<uint32_t>(texts_.size());
    }
    return recent - 1;
  }
  size_t size() const { return texts_.size(); }
  std::string_view operator[](size_t number) const { return texts_[number]; }

 private:
  static constexpr size_t kRecent = 128;
  /// By the size and both ends.
  static size_t place_of(std::string_view text) {
    if (text.size() < sizeof(uint64_t)) return hash_of(text) % kRecent;
    uint64_t first = 0, last = 0;
    std::memcpy(&first, text.data(), sizeof first);
    std::memcpy(&last, text.data() + text.size() - sizeof last, sizeof last);
    return (first ^ std::rotl(last, 29) ^ text.size()) * 0x9E3779B97F4A7C15 >> 57;
  }

  std::vector<std::string_view> texts_;
  std::array<uint32_t, kRecent> recent_{};  // plus one
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

  // Beside those of PlainNodes: its nodes, values and names (numbers plus one, again). What belongs
  // to unusual nodes says nothing.
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
  out = {names.number(value.name), 0};
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
