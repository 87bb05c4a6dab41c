// The module tree of a file that holds only names and tensors (a state_dict):
// "layer1.0.conv1.weight" belongs to the module "layer1.0.conv1", whose type such a file does not
// tell.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <utility>

namespace loading {

class WeightTree {
 public:
  /// Makes the root module.
  explicit WeightTree(tmeter::GraphBuilder& graph)
      : graph_(graph), root_(graph.module(0, "", "")) {}

  /// Adds the tensor under its name, owned by the module its name says, as parameter or buffer
  /// (is_buffer). A parameter is trainable: these files do not tell otherwise.
  void add(tmeter_tensor_desc tensor);
  /// The same for one that the file says is a parameter.
  void add_parameter(tmeter_tensor_desc tensor, bool trainable);

 private:
  /// The module that owns a tensor of this name, made together with all above it.
  tmeter_id owner_of(std::string_view tensor_name);
  tmeter_id child(tmeter_id parent, std::string_view name);
  void push(tmeter_tensor_desc& tensor);

  tmeter::GraphBuilder& graph_;
  tmeter_id root_;
  std::map<std::pair<tmeter_id, std::string>, tmeter_id> children_;  // by parent and name
};

/// Whether a tensor that is only known by name and type is a buffer: running statistics and
/// position tables by the names PyTorch's and Hugging Face's modules give them; indices and masks,
/// which cannot be trained, by their type (bool, int64).
bool is_buffer(std::string_view name, tmeter::DType dtype);

/// Throws BadFile for a name that is not UTF-8 or absurdly long.
void check_name(std::string_view name);

}  // namespace loading
