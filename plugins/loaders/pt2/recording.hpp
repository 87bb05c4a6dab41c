// What has been read of the nodes of a large graph, in a few bytes each, until the tensors that
// they use have been built: so each node's text is read once.
#pragma once
#include <deque>
#include <span>
#include <vector>

#include "modules.hpp"
#include "node_numbers.hpp"
#include "target.hpp"

namespace pt2 {

/// For one node after the other: the one of this text, as a document. Throws BadFile.
class NodeDocument {
 public:
  NodeView& parse(std::string_view text, size_t number);

 private:
  json::parser parser_;
  std::vector<NodeView> views_;
};

struct RecordedValue {
  enum class Kind : uint16_t { kTensor, kTensors, kConstant, kText };
  uint16_t name = 0;  // of the argument, in Recording::names
  Kind kind = Kind::kConstant;
  uint32_t at = 0;  // a name of the scope, or in Recording::lists, constants or texts
};

struct RecordedNode {
  static constexpr uint32_t kUnusual = ~uint32_t{0};
  uint32_t target = 0;  // kUnusual: its text is Recording::texts[first]
  uint32_t stack = 0;   // of Modules
  uint32_t location = 0;
  uint32_t first = 0;  // of its arguments; its results follow
  uint16_t arguments = 0, results = 0;
};

struct RecordedTarget {
  std::string_view text;  // as the file has it
  Target target;
};

struct Constant {
  PlainValue::Kind kind = PlainValue::Kind::kNone;
  int64_t number = 0;
  double real = 0;
  std::vector<int64_t> numbers = {};
  tmeter_id id = 0;  // once made
};

class Uses;

class Recording {
 public:
  Recording(TextStore& texts, Modules& modules) : texts_(texts), modules_(modules) {}

  /// Nodes of the graph that is not inside another, of a list of so many pieces; the modules learn
  /// of their stacks, and `uses` of what they read. `number`: of the first of them, for messages.
  void add(const PlainNodes& plain, const NodeNumbers& numbers, size_t number, size_t pieces,
           Uses& uses);
  /// Of the first tensor of a result; empty when it has none.
  std::string_view name_of_result(const RecordedValue& value, const Scope& scope) const;

  /// The names of a list of tensors.
  std::span<const uint32_t> list(const RecordedValue& value) const {
    return std::span(lists).subspan(value.at + 1, lists[value.at]);
  }

  std::vector<RecordedNode> nodes;
  std::vector<RecordedValue> values;
  std::vector<uint32_t> lists;  // of names of the scope, behind how many each has
  std::vector<std::string_view> texts;
  std::vector<Constant> constants;
  std::deque<RecordedTarget> targets;
  std::deque<std::string> locations{1};
  std::vector<std::string_view> names{1};
  bool branches = false;  // there are operators with graphs of their own

 private:
  void note_uses(const RecordedNode& node, Uses& uses) const;
  /// A piece of nodes, and what its numbers stand for: kNew where nobody has asked.
  struct Piece {
    const PlainNodes* plain = nullptr;
    const NodeNumbers* numbers = nullptr;
    std::vector<uint32_t> targets, locations, names, constants;
    void begin(const PlainNodes& nodes, const NodeNumbers& numbers_of_them);
  };
  static constexpr uint32_t kNew = ~uint32_t{0};

  void reserve(const PlainNodes& plain, size_t pieces);
  bool record(size_t node, RecordedNode& out);
  bool record_value(size_t index);
  bool record_tensors(const PlainValue& value, uint32_t& at);
  uint32_t constant(uint32_t number);
  uint32_t constant(const PlainNodes& plain, const PlainValue& value);
  uint32_t location_of(std::string_view trace);
  uint32_t target_of(std::string_view text);
  bool name_of(uint32_t number, uint16_t& index);
  bool name_of(std::string_view text, uint16_t& index);

  TextStore& texts_;
  Modules& modules_;
  NameMap<uint32_t> target_index_, name_index_, constant_index_, location_index_;
  std::string key_, trace_;  // reused
  Piece piece_;              // the one that is added
  NodeDocument document_;
};

}  // namespace pt2
