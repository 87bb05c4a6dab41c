// A plugin defined in the test: its handlers and analyses are functions of the test, called through
// the C tables like those of a library.
#pragma once
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "core/plugin_host/abi_text.hpp"
#include "core/plugin_host/handles.hpp"
#include "core/plugin_host/interfaces.hpp"
#include "core/plugin_host/registry.hpp"

namespace tmeter::testing {

struct MetricSpec {
  int32_t axis = TMETER_AXIS_NODE;
  int32_t aggregation = TMETER_AGGREGATE_SUM;
  uint32_t flags = 0;
  std::string weight = {};
};

class FakePlugin {
 public:
  using OnNode = std::function<tmeter_status(tmeter_call*, const core::Node&)>;
  using OnCall = std::function<tmeter_status(tmeter_call*, const core::ModuleCall&)>;
  using OnGraph = std::function<tmeter_status(tmeter_call*, const core::Graph&)>;

  explicit FakePlugin(const std::string& id) {
    plugin_.manifest.id = id;
    plugin_.call.plugin_id = id;
  }
  FakePlugin(const FakePlugin&) = delete;
  FakePlugin& operator=(const FakePlugin&) = delete;
  core::Plugin& get() { return plugin_; }

  FakePlugin& metric(const std::string& id, const MetricSpec& spec = {}) {
    tmeter_metric_desc d{};
    d.struct_size = sizeof d;
    d.flags = spec.flags;
    d.id = d.title = kept(id);
    d.axis = spec.axis;
    d.aggregation = spec.aggregation;
    d.weight = kept(spec.weight);
    d.convention = kept("a test's");
    plugin_.offered.metrics.push_back(d);
    return *this;
  }
  FakePlugin& handler(const std::string& metric, const std::string& op, OnNode f,
                      uint32_t flags = 0, int32_t priority = 0) {
    plugin_.offered.op_handlers.push_back({sizeof(tmeter_op_handler), flags, kept(metric), kept(op),
                                           priority, 0, &on_node_.emplace_back(std::move(f)),
                                           [](tmeter_call* c, const tmeter_node* node, void* user) {
                                             return (*static_cast<OnNode*>(user))(
                                                 c, *core::from_handle(node));
                                           }});
    return *this;
  }
  FakePlugin& module_handler(const std::string& metric, const std::string& type, OnCall f,
                             const std::string& follows = {}) {
    plugin_.offered.module_handlers.push_back(
        {sizeof(tmeter_module_handler), 0, kept(metric), kept(type), 0, 0,
         &on_call_.emplace_back(std::move(f)),
         [](tmeter_call* c, const tmeter_graph*, const tmeter_module_call* call, void* user) {
           return (*static_cast<OnCall*>(user))(c, *core::from_handle(call));
         },
         kept(follows)});
    return *this;
  }
  FakePlugin& analysis(const std::string& name, const std::string& required,
                       const std::string& produced, OnGraph f) {
    plugin_.offered.analyses.push_back(
        {sizeof(tmeter_analysis), 0, kept(name), kept(required), kept(produced),
         [](tmeter_call* c, const tmeter_graph* graph, void* user) {
           return (*static_cast<OnGraph*>(user))(c, *core::from_handle(graph));
         },
         &on_graph_.emplace_back(std::move(f))});
    return *this;
  }

 private:
  tmeter_str kept(const std::string& text) { return core::to_abi(texts_.emplace_back(text)); }

  std::deque<std::string> texts_;
  std::deque<OnNode> on_node_;
  std::deque<OnCall> on_call_;
  std::deque<OnGraph> on_graph_;
  core::Plugin plugin_;
};

/// The body of a handler that returns `value`.
inline tmeter_status give(tmeter_call* call, const tmeter_number& value) {
  return core::results_interface()->emit(call, value);
}

/// The body of an analysis that emits `n` for a row.
inline tmeter_status emit_at(tmeter_call* call, const std::string& metric, int32_t axis,
                             size_t index, int64_t n) {
  return core::results_interface()->emit_at(call, core::to_abi(metric), axis, index,
                                            {TMETER_NUMBER_INT, 0, n, 0});
}

/// A plugin's read of a row; an empty number if the read fails.
inline tmeter_number value_at(tmeter_call* call, const std::string& metric, int32_t axis,
                              size_t index) {
  tmeter_number n{};
  core::results_interface()->read(call, core::to_abi(metric), axis, index, &n);
  return n;
}

/// The body of a callback that fails with these words.
inline tmeter_status fail(tmeter_call* call, const std::string& words,
                          tmeter_status status = TMETER_INTERNAL) {
  call->frame.error = words;
  return status;
}

}  // namespace tmeter::testing
