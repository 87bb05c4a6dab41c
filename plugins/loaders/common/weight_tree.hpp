// The module tree of a file that holds only names and tensors (a state_dict):
// "layer1.0.conv1.weight" belongs to the module "layer1.0.conv1", whose type is unknown.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <utility>
#include <vector>

namespace loading {

class WeightTree {
 public:
  /// Makes the root module.
  explicit WeightTree(tmeter::GraphBuilder& graph)
      : graph_(graph), root_(graph.module(0, "", "")) {}

  /// Adds the tensor to the module in its name, as a parameter or buffer (is_buffer). Parameters
  /// are assumed to be trainable.
  void add(tmeter_tensor_desc tensor);
  /// The same for a known parameter.
  void add_parameter(tmeter_tensor_desc tensor, bool trainable);
  /// The same for a known buffer.
  void add_buffer(tmeter_tensor_desc tensor);
  /// The module of this path, made with its ancestors if it is new. A tensor with an owner is added
  /// to that, whatever its name.
  tmeter_id module(std::string_view path) {
    return path.empty() ? root_ : owner_of(std::string(path) + ".");
  }

 private:
  /// The module that owns a tensor of this name; created with its ancestors if it is new.
  tmeter_id owner_of(std::string_view tensor_name);
  tmeter_id child(tmeter_id parent, std::string_view name);
  void push(tmeter_tensor_desc& tensor);

  tmeter::GraphBuilder& graph_;
  tmeter_id root_;
  std::map<std::pair<tmeter_id, std::string>, tmeter_id> children_;  // by parent and name
  // The modules of the last name, each with the place of the dot behind it: names come in order.
  std::string last_;
  std::vector<std::pair<size_t, tmeter_id>> last_modules_;
};

/// Guesses from name and type whether a tensor is a buffer. Running statistics and position tables
/// are recognised by their names in PyTorch and Hugging Face, indices and masks by their type
/// (bool, int64), which cannot be trained.
bool is_buffer(std::string_view name, tmeter::DType dtype);

/// Throws BadFile for a name that is not UTF-8 or longer than 64 KiB.
void check_name(std::string_view name);

}  // namespace loading
