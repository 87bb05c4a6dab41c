// The content of a module call: its nodes, including those of inner calls, and the tensors that go
// in and come out.
//
// The index takes memory in proportion to the graph. The contents of a call are computed when they
// are first needed, and kept. Safe from any thread.
#pragma once
#include <mutex>
#include <unordered_map>
#include <vector>

namespace tmeter::core {

class Graph;
struct ModuleCall;
struct Node;
struct Value;

struct CallContents {
  std::vector<const Node*> nodes;    // in execution order
  std::vector<const Value*> inputs;  // made outside, in the order of their first use; no parameters
  std::vector<const Value*> outputs;  // used outside, in the order in which they are made
};

class CallIndex {
 public:
  explicit CallIndex(const Graph& graph);

  /// Lives as long as the index.
  const CallContents& of(const ModuleCall& call) const;

 private:
  bool is_inside(const ModuleCall* call, const ModuleCall& outer) const;
  void number_calls();
  void note_use(const Value& value, const ModuleCall* user);
  CallContents collect(const ModuleCall& call) const;

  const Graph& graph_;
  // By index of a call: the pre-order range [first, end) of the calls inside it.
  std::vector<size_t> first_, end_;
  std::vector<std::vector<const Node*>> nodes_;  // by pre-order number: nodes of the call itself
  // The innermost call around a value's producer and its users; null if there is none.
  std::unordered_map<const Value*, const ModuleCall*> enclosing_calls_;

  mutable std::mutex mutex_;
  mutable std::unordered_map<const ModuleCall*, CallContents> contents_;
};

}  // namespace tmeter::core
