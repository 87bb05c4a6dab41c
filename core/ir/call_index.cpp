#include "core/ir/call_index.hpp"

#include <tmeter/abi/graph.h>

#include <algorithm>
#include <unordered_set>

#include "core/ir/graph.hpp"

namespace tmeter::core {
namespace {

/// Calls `visit` for each tensor but parameters, inside lists, too.
template <class Visit>
void for_each_tensor(const Value& value, const Visit& visit) {
  for (const auto* item : value.items) for_each_tensor(*item, visit);
  if (value.kind == TMETER_VALUE_TENSOR && !value.tensor) visit(value);
}

}  // namespace

CallIndex::CallIndex(const Graph& graph) : graph_(graph) {
  number_calls();
  nodes_.resize(graph.calls().size());
  for (const auto& node : graph.nodes()) {
    nodes_[first_[node.call->index]].push_back(&node);
    for (const auto& arg : node.args) note_use(*arg.value, node.call);
  }
  for (const auto* output : graph.outputs()) note_use(*output, nullptr);
}

/// A call comes after its caller, so one backward and one forward pass suffice.
void CallIndex::number_calls() {
  const auto& calls = graph_.calls();
  std::vector<size_t> size(calls.size(), 1), next(calls.size());
  for (size_t i = calls.size(); i-- > 0;)
    if (const auto* parent = calls[i].parent) size[parent->index] += size[i];
  first_.resize(calls.size());
  end_.resize(calls.size());
  size_t next_outside = 0;
  for (const auto& call : calls) {
    auto& place = call.parent ? next[call.parent->index] : next_outside;
    first_[call.index] = place;
    next[call.index] = place + 1;
    place += size[call.index];
    end_[call.index] = place;
  }
}

bool CallIndex::is_inside(const ModuleCall* call, const ModuleCall& outer) const {
  return call && first_[outer.index] <= first_[call->index] &&
         first_[call->index] < end_[outer.index];
}

void CallIndex::note_use(const Value& value, const ModuleCall* user) {
  for_each_tensor(value, [&](const Value& tensor) {
    if (!tensor.producer) return;
    auto& enclosing = enclosing_calls_.try_emplace(&tensor, tensor.producer->call).first->second;
    while (enclosing && !is_inside(user, *enclosing)) enclosing = enclosing->parent;
  });
}

CallContents CallIndex::collect(const ModuleCall& call) const {
  CallContents out;
  for (size_t i = first_[call.index]; i < end_[call.index]; ++i)
    out.nodes.insert(out.nodes.end(), nodes_[i].begin(), nodes_[i].end());
  std::sort(out.nodes.begin(), out.nodes.end(),
            [](const Node* a, const Node* b) { return a->index < b->index; });
  std::unordered_set<const Value*> seen;
  for (const auto* node : out.nodes) {
    for (const auto& arg : node->args) {
      for_each_tensor(*arg.value, [&](const Value& v) {
        const bool inside = v.producer && is_inside(v.producer->call, call);
        if (!inside && seen.insert(&v).second) out.inputs.push_back(&v);
      });
    }
    for (const auto* result : node->results) {
      for_each_tensor(*result, [&](const Value& v) {
        const auto use = enclosing_calls_.find(&v);
        if (use == enclosing_calls_.end() || is_inside(use->second, call)) return;
        if (seen.insert(&v).second) out.outputs.push_back(&v);
      });
    }
  }
  return out;
}

const CallContents& CallIndex::of(const ModuleCall& call) const {
  const std::lock_guard lock(mutex_);
  const auto entry = contents_.find(&call);
  return entry != contents_.end() ? entry->second
                                  : contents_.emplace(&call, collect(call)).first->second;
}

}  // namespace tmeter::core
