// Runs the operators of a recorded graph again, for inputs of other sizes.
//
// Operators are executed in order on tensors that have shapes but no values. Plain numbers in the
// program may be sizes that follow from the input, and several readings may be possible
// (size_arguments.hpp). The first reading is tried first. If an operator refuses its arguments, the
// latest reading it depends on is changed, and the replay continues from there.
#pragma once
#include <map>
#include <set>

#include "conv_pool_padding.hpp"
#include "operators/evaluator.hpp"
#include "operators/limits.hpp"
#include "operators/messages.hpp"
#include "rules.hpp"
#include "size_arguments.hpp"

namespace tmeter::resize {

class Replay {
 public:
  /// `base` has sizes of an earlier pass; the recorded sizes are used for the others. `rules` has
  /// the operators that LibTorch lacks.
  Replay(const Graph& graph, const ReplayedSizes& base, Limits& limits, Rules& rules)
      : graph_(graph),
        base_(base),
        limits_(limits),
        rules_(rules),
        padding_(graph),
        ancestors_(graph.nodes().size()) {}

  /// `inputs` has the dims of each input, empty for other values than tensors. If it returns false,
  /// failure() has the reason.
  bool run(const std::vector<Sizes>& inputs);

  /// All dims, numbers and replaced literals.
  ReplayedSizes result() const;
  const Failure& failure() const { return failure_; }
  /// Judged paddings, by node.
  const std::map<size_t, Repadding>& repaddings() const { return repaddings_; }
  /// Whether a size in the program was replaced before the replay ended.
  bool replaced_any() const;
  /// The first operator whose sizes have several readings and no evidence for one; else empty.
  const std::string& ambiguous_operator() const { return ambiguous_operator_; }

 private:
  using Nodes = std::set<size_t>;
  struct Choice {
    SizeArgument argument;
    size_t at = 0;
    Nodes blamed;  // choices that failures under the tried readings depend on
  };

  void set_inputs(const std::vector<Sizes>& inputs);
  bool step(size_t i);
  void execute(const Node& node, const SizeArgument* sizes, size_t version);
  void execute_operator(const Node& node, const SizeArgument* sizes, size_t version);
  void execute_by_rule(const Node& node, const std::vector<Literal>& sizes);
  void bind_results(const Node& node, const torch::jit::Stack& results);
  void repad(const Node& node);
  void set_argument(const Node& node, const Literal& literal);
  void bind(const Value& value, const c10::IValue& now);
  bool keep_recorded(const Node& node);
  bool same_inputs(const Node& node) const;
  Nodes ancestors_of(const Node& node) const;
  std::optional<size_t> backtrack(size_t i);
  const Sizes& chosen(size_t i, const SizeArgument& sizes) const;
  bool is_replaced(size_t i, const SizeArgument& sizes) const;
  void record_size_changes(const Node& node);
  void check_samples(const Node& node) const;
  void fail(const Node& node, std::string reason);

  const Graph& graph_;
  const ReplayedSizes& base_;
  Limits& limits_;
  Rules& rules_;
  const ConvPoolPadding padding_;
  Evaluator evaluator_;
  Environment now_;
  SizeChanges changes_,
      known_changes_;          // changes of inputs; of inputs and of results without any choice
  ShapeChanges known_shapes_;  // of inputs and of results without any choice
  std::optional<SizeChange> samples_;     // set if only the number of samples changes
  std::map<size_t, SizeArgument> sizes_;  // by node
  std::map<size_t, Choice> choices_;      // by node with several readings
  std::map<size_t, Repadding> repaddings_;
  std::vector<Nodes> ancestors_;  // by node: the choices it depends on
  torch::jit::Stack args_;        // of the operator being executed
  std::vector<std::string> arg_names_;
  Failure failure_;  // the furthest
  size_t furthest_node_ = 0;
  size_t backtracks_ = 0;
  std::string ambiguous_operator_;
};

}  // namespace tmeter::resize
