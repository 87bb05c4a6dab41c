// Shows a whole nn.Module that was pickled: its tree, types, parameters, buffers and plain
// attributes (in_channels, kernel_size, eps, …), all of which are data in its __dict__.
#pragma once
#include <tmeter/cpp/plugin.hpp>
#include <unordered_set>

#include "state_dict.hpp"

namespace checkpoint {

class ModulePusher {
 public:
  ModulePusher(tmeter::GraphBuilder& graph, Tensors& tensors, Describer& describer)
      : graph_(graph), tensors_(tensors), describer_(describer) {}

  void push(const Value& root);
  size_t tensor_count() const { return tensor_count_; }

 private:
  struct Waiting {
    const Value* module;
    tmeter_id parent;
    std::string path;
  };
  void push_module(const Waiting& one);
  void push_tensors(const Value* dict, const std::string& path, tmeter_id owner, int32_t kind);
  void push_tensor(const Value& value, const std::string& name, tmeter_id owner, int32_t kind);
  void push_packed(const Value* state, const std::string& name, tmeter_id owner, size_t depth);
  void push_attribute(std::string_view name, const Value& value, tmeter_id module);
  tmeter_id scalar(const Value& value);

  tmeter::GraphBuilder& graph_;
  Tensors& tensors_;
  Describer& describer_;
  std::vector<Waiting> waiting_;  // depth first, as in named_modules()
  std::unordered_set<const Value*> seen_;
  size_t tensor_count_ = 0;
};

}  // namespace checkpoint
