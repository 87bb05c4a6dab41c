// Tracks the running call of a module.
//
// LibTorch reports every TorchScript function it enters with its arguments. The first argument is
// the module object, so calls are attributed by identity, not by name. A module's own methods
// (self.encode(x)) belong to the running call. forward of another module is a new call; any other
// method of another module becomes one as soon as an operator runs in it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "torchscript/load/module_tree.hpp"

namespace tmeter::torch_backend {

class CallStack {
 public:
  /// If `builder` is null, only paths are tracked.
  CallStack(const ModuleTree& tree, GraphBuilder* builder) : tree_(tree), builder_(builder) {}

  void enter(const c10::ivalue::Object* self, std::string_view method) {
    const bool is_module = self && tree_.modules.contains(self);
    if (!is_module || (!frames_.empty() && calls_[frames_.back()].self == self)) {
      frames_.push_back(frames_.empty() ? 0 : frames_.back());
      if (calls_.empty()) calls_.push_back({});
      return;
    }
    calls_.push_back({self, frames_.empty() ? kNone : frames_.back(), 0});
    frames_.push_back(calls_.size() - 1);
    if (is_forward(method)) current();
  }

  void leave() {
    if (!frames_.empty()) frames_.pop_back();
  }

  /// The id of the running call in the graph, pushed at its first use.
  GraphBuilder::Id current() { return builder_ && !frames_.empty() ? push(frames_.back()) : 0; }

  /// "layer1.0.conv1"; empty in the root.
  const std::string& path() const {
    static const std::string root;
    const auto* self = frames_.empty() ? nullptr : calls_[frames_.back()].self;
    return self ? tree_.modules.at(self).path : root;
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  struct Call {
    const c10::ivalue::Object* self = nullptr;
    size_t parent = kNone;
    GraphBuilder::Id id = 0;
  };

  /// Traced modules that are called repeatedly have forward, forward1, forward2, …
  static bool is_forward(std::string_view method) {
    return method.starts_with("forward") &&
           method.find_first_not_of("0123456789", 7) == std::string_view::npos;
  }

  GraphBuilder::Id push(size_t i) {
    auto& call = calls_[i];
    if (call.id) return call.id;
    const auto parent = call.parent == kNone ? 0 : push(call.parent);
    const auto module = call.self ? tree_.modules.at(call.self).id : tree_.root;
    return calls_[i].id = builder_->module_call(module, parent);
  }

  const ModuleTree& tree_;
  GraphBuilder* builder_;
  std::vector<Call> calls_;
  std::vector<size_t> frames_;  // indices into calls_; methods of one call repeat its index
};

}  // namespace tmeter::torch_backend
