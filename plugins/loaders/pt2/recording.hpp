// What has been read of the nodes of a large graph, in a few bytes each, until the tensors that
// they use have been built: so each node's text is read once.
#pragma once
#include <deque>
#include <span>
#include <vector>

#include "modules.hpp"
#include "plain_nodes.hpp"
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
  Recording(TextStore& texts, Modules& modules, const Scope& scope)
      : texts_(texts), modules_(modules), scope_(scope) {}

  /// Nodes of the graph that is not inside another; the modules learn of their stacks, and `uses`
  /// of what they read. `number`: of the first of them, for messages.
  void add(const PlainNodes& plain, size_t number, Uses& uses);
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
  bool record(const PlainNodes& plain, const PlainNode& node, RecordedNode& out);
  bool record(const PlainNodes& plain, const PlainValue& value, bool is_result);
  bool record_tensors(const PlainNodes& plain, const PlainValue& value, bool is_result,
                      uint32_t& at);
  uint32_t constant(const PlainNodes& plain, const PlainValue& value);
  uint32_t location_of(std::string_view trace);
  uint32_t target_of(std::string_view text);
  bool name_of(std::string_view text, uint16_t& index);
  bool find_number(std::string_view name, bool is_result, uint32_t& number);

  TextStore& texts_;
  Modules& modules_;
  const Scope& scope_;
  NameMap<uint32_t> target_index_, name_index_, constant_index_, location_index_;
  std::string key_, trace_;  // reused
  // As in NameMap::find_next: of results, which are numbered in their order, and of what else is
  // used, which as a rule stands before the first of them.
  uint32_t last_result_ = 0, first_result_ = 0, last_used_ = 0;
  NodeDocument document_;
};

}  // namespace pt2
