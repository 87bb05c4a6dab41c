// Nodes of the model's graph in compact form. Modules and tied tensors are known only after the
// last node, and must be in the host's graph before the first: so the nodes are recorded when their
// text is read, and put into the graph afterwards.
#pragma once
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "modules.hpp"
#include "node_view.hpp"

namespace pt2 {

class Uses;

struct RecordedValue {
  enum class Kind : uint16_t { kTensor, kTensors, kConstant, kJson };
  uint16_t name = 0;  // name of the argument, in Recording::names
  Kind kind = Kind::kConstant;
  uint32_t at = 0;  // a number of the scope, or in Recording::lists, constants or texts
};

struct RecordedNode {
  static constexpr uint32_t kJson = ~uint32_t{0};
  uint32_t target = 0;  // in Recording::targets; kJson: the node is the JSON in texts[first]
  uint32_t stack = 0;   // stack of Modules
  uint32_t location = 0;
  uint32_t first = 0;  // argument in Recording::values; the results follow the arguments
  uint16_t arguments = 0, results = 0;
};

struct RecordedTarget {
  std::string_view text;  // as in the file
  Target target;
};

struct Constant {
  enum class Kind : uint8_t { kNone, kInteger, kIntegers, kReal, kBoolean, kScalarType };
  Kind kind = Kind::kNone;
  int64_t number = 0;
  double real = 0;
  std::vector<int64_t> numbers = {};
  tmeter_id id = 0;  // once it is in the graph
};

class Recording {
 public:
  /// `inputs`: about how many names of the scope are inputs of the graph.
  Recording(TextStore& texts, Modules& modules, const Scope& scope, size_t inputs)
      : texts_(texts), modules_(modules), scope_(scope), inputs_(inputs) {}

  /// Records one of `pieces` pieces of the list of nodes. Modules learn their stacks, and `uses`
  /// the parameters they read. Throws BadFile.
  void add(json::array piece, size_t pieces, Uses& uses);

  /// The name of the first tensor of a result; empty if it has no tensor.
  std::string_view name_of_result(const RecordedValue& value) const;
  /// The numbers in the scope of a list of tensors.
  std::span<const uint32_t> list(const RecordedValue& value) const {
    return std::span(lists).subspan(value.at + 1, lists[value.at]);
  }

  std::vector<RecordedNode> nodes;
  std::vector<RecordedValue> values;
  std::vector<uint32_t> lists;  // each is its length, then numbers of the scope
  std::vector<std::string_view> texts;
  std::vector<Constant> constants;
  std::deque<RecordedTarget> targets;
  std::deque<std::string> locations{1};
  std::vector<std::string_view> names{1};
  bool has_subgraphs = false;

 private:
  enum class Role { kArgument, kResult };

  bool record(const NodeView& node, RecordedNode& out);
  bool record_argument(json::element input);
  bool record_value(std::string_view name, json::element value, Role role);
  bool record_tensors(json::element list, Role role, uint32_t& at);
  bool find_tensor(json::element tensor, Role role, uint32_t& number);
  void note_uses(const RecordedNode& node, Uses& uses) const;
  uint32_t index_of(const Constant& constant);
  uint32_t index_of_json(json::element value);
  uint32_t index_of_location(std::string_view trace);
  uint32_t index_of_target(std::string_view text);
  bool index_of_name(std::string_view text, uint16_t& index);

  TextStore& texts_;
  Modules& modules_;
  const Scope& scope_;
  size_t inputs_;
  uint32_t last_result_ = 0, last_input_ = 0;  // see NameMap::find_next
  NameMap<uint32_t> target_index_, name_index_, constant_index_, location_index_, json_index_;
  Constant constant_;  // reused
  std::string key_;    // reused
};

}  // namespace pt2
