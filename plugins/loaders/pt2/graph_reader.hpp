// GraphReader: the nodes of a graph, in order, into the host's graph. Sub-graphs of higher-order
// operators are inlined where it is known how often they run (higher_order.cpp).
#pragma once
#include <deque>
#include <span>
#include <unordered_map>

#include "arguments.hpp"
#include "modules.hpp"
#include "node_view.hpp"
#include "recording.hpp"

namespace pt2 {

class GraphReader {
 public:
  using Ids = std::vector<tmeter_id>;
  GraphReader(Building& building, Modules& modules, Arguments& arguments)
      : building_(building), modules_(modules), arguments_(arguments) {}

  /// Call before `read` if nodes have sub-graphs. `inputs` are the values of the model's inputs.
  void expect_branches(const Ids& inputs);
  /// Puts the recorded nodes into the graph. Nodes without a module stack belong to `call`.
  void read(Recording& recording, Scope& scope, tmeter_id call);

 private:
  // Progress and cancellation.
  static constexpr size_t kNodesBetweenChecks = 4096;

  static json::element argument_of(json::element input) { return member(as_object(input), "arg"); }

  void read(const std::vector<NodeView>& nodes, Scope& scope, tmeter_id call);
  void read_node(const NodeView& node, Scope& scope, tmeter_id call);
  void emit(const Target& target, const NodeView& node, Scope& scope, tmeter_id call);
  void emit(Recording& recording, const RecordedNode& node, Scope& scope, tmeter_id call);
  /// Adds a node with the arguments in args_.
  void emit_node(const Target& target, const NodeView& node, Scope& scope, tmeter_id call);
  /// Adds a node with the arguments in args_ and the results in results_.
  void add_node(const Target& target, tmeter_id call, std::string_view location,
                std::string_view name);
  tmeter_id argument(Recording& recording, const RecordedValue& value, Scope& scope);
  tmeter_id constant(Constant& constant);
  tmeter_id result(const Recording& recording, const RecordedValue& value, Scope& scope);
  tmeter_id result(json::element output, Scope& scope);
  /// The name of the first tensor a node makes, by which torch and other tools name the node.
  static std::string_view first_name(json::array outputs);
  const Target& target_of(std::string_view text);
  std::string_view unnamed(size_t position);

  // Higher-order operators; false: not one that can be inlined.
  using Inline = bool (GraphReader::*)(const NodeView&, Scope&, tmeter_id);
  bool inline_higher_order(std::string_view name, const NodeView&, Scope&, tmeter_id);
  bool inline_once(const NodeView&, Scope&, tmeter_id);

  // Branches and loops, for executors (higher_order.cpp).
  void note_branch(const NodeView&, tmeter_id condition, bool taken, size_t begin);
  void note_loop(const NodeView&, const Ids& carried, const Ids& others, tmeter_id condition,
                 const Ids& results, size_t begin, size_t body);
  void note_region(const std::string& region, const NodeView&, std::string_view op);
  void note_unsupported_control_flow(std::string_view op, const NodeView&);
  std::string place_of(tmeter_id value) const;
  void note_places(size_t node);

  bool inline_cond(const NodeView&, Scope&, tmeter_id);
  bool inline_while(const NodeView&, Scope&, tmeter_id);
  bool inline_functionalized(const NodeView&, Scope&, tmeter_id);
  bool inline_functionalized_v2(const NodeView&, Scope&, tmeter_id);
  void warn_hidden(std::string_view op, const NodeView& node);

  /// Reads the nodes of the inner graph with these operands; gives its results.
  Ids run_inner(json::object graph, const Ids& operands, tmeter_id call);
  bool fits(json::object graph, size_t operands, size_t results) const;
  void bind_results(const NodeView& node, const Ids& results, Scope& scope);
  Ids operands_from(std::span<const json::element> arguments, Scope& scope);

  Building& building_;
  Modules& modules_;
  Arguments& arguments_;
  NameMap<size_t> target_index_;
  std::deque<Target> targets_;
  std::vector<tmeter_arg> args_;                       // reused
  std::vector<tmeter_id> results_;                     // reused
  Ids items_;                                          // reused
  json::parser node_, argument_;                       // parsers of recorded JSON
  std::deque<std::string> arg_names_;                  // "arg0", … of arguments without a name
  bool branches_ = false;                              // nodes have sub-graphs
  std::unordered_map<tmeter_id, std::string> places_;  // only then: "n12.0", "n12.0.3", "i1"
  std::string regions_;
  size_t emitted_ = 0;
  int depth_ = 0;  // nesting of sub-graphs
  size_t nodes_ = 0;
};

}  // namespace pt2
