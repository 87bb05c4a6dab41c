// Adds a pickled nn.Module to the graph: its tree, types, parameters, buffers and plain attributes
// (in_channels, kernel_size, eps, …), all of which are data in its __dict__.
#pragma once
#include <memory>
#include <tmeter/cpp/plugin.hpp>
#include <unordered_map>
#include <unordered_set>

#include "state_dict.hpp"
#include "tensors.hpp"

namespace checkpoint {

class ModulePusher {
 public:
  ModulePusher(tmeter::GraphBuilder& graph, Tensors& tensors, Describer& describer)
      : graph_(graph), tensors_(tensors), describer_(describer) {}

  void push(const Value& root);
  size_t tensor_count() const { return tensor_count_; }
  /// Modules whose tensors have an unsupported form, which are not shown.
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  struct PendingModule {
    const Value* module;
    tmeter_id parent;
    std::shared_ptr<const std::string> parent_path;  // null: the root
    std::string_view name;
  };
  using Ids = std::unordered_map<const Value*, tmeter_id>;
  void push_module(const PendingModule& one);
  void queue_children(const Value& children, const std::string& path, tmeter_id parent);
  void count_attributes(const Value& attributes);
  void push_tensors(const Value* dict, const std::string& path, tmeter_id owner, int32_t kind);
  void push_tensor(const Value& value, const std::string& name, tmeter_id owner, int32_t kind);
  void push_packed(const Value* state, const std::string& name, tmeter_id owner, size_t depth);
  void push_attribute(std::string_view name, const Value& value, tmeter_id module);
  tmeter_id scalar(const Value& value);
  tmeter_id new_scalar(const Value& value);
  tmeter_id sequence(const Value& value);

  tmeter::GraphBuilder& graph_;
  Tensors& tensors_;
  Describer& describer_;
  std::vector<PendingModule> waiting_;  // depth first, as in named_modules()
  std::unordered_set<const Value*> seen_;
  HiddenWeights weights_;
  std::vector<std::string> left_out_;
  Ids scalars_, sequences_;
  size_t tensor_count_ = 0, attribute_count_ = 0;
};

}  // namespace checkpoint
