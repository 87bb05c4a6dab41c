// The module tree of a file that holds only names and tensors (a state_dict):
// "layer1.0.conv1.weight" belongs to the module "layer1.0.conv1", whose type is unknown.
#pragma once
#include <deque>
#include <memory_resource>
#include <string>
#include <string_view>
#include <tmeter/cpp/plugin.hpp>
#include <tmeter/cpp/text_hash.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "buffers.hpp"

namespace loading {

class WeightTree {
 public:
  /// Makes the root module.
  explicit WeightTree(tmeter::GraphBuilder& graph)
      : graph_(graph), root_(graph.module(0, "", "")) {}

  /// Adds the tensor to the module in its name, as a parameter or buffer. Parameters are assumed to
  /// be trainable.
  void add(tmeter_tensor_desc tensor, TensorKinds& kinds);
  /// The same for a known parameter.
  void add_parameter(tmeter_tensor_desc tensor, bool trainable);
  /// The same for a known buffer.
  void add_buffer(tmeter_tensor_desc tensor);
  /// The module of this path, made with its ancestors if it is new. A tensor with an owner is added
  /// to that, regardless of its name.
  tmeter_id module(std::string_view path) {
    return path.empty() ? root_ : owner_of(std::string(path) + ".");
  }

 private:
  struct Child {
    tmeter_id parent;
    std::string_view name;
    bool operator==(const Child&) const = default;
  };
  struct ChildHash {
    size_t operator()(const Child& c) const {
      return tmeter::TextHash()(c.name) ^ c.parent * size_t{0x9E3779B97F4A7C15};
    }
  };

  /// The module that owns a tensor of this name; created with its ancestors if it is new.
  tmeter_id owner_of(std::string_view tensor_name);
  tmeter_id child(tmeter_id parent, std::string_view name);
  void push(tmeter_tensor_desc& tensor);

  tmeter::GraphBuilder& graph_;
  tmeter_id root_;
  // The modules of the last name, each with the place of the dot after it.
  std::string last_;
  std::vector<std::pair<size_t, tmeter_id>> last_modules_;
  // While names come in natural order, a module without the last name is complete. The first name
  // out of order creates the table.
  bool in_order_ = true;
  std::pmr::monotonic_buffer_resource texts_;
  std::deque<std::pair<Child, tmeter_id>> made_;
  std::unordered_map<Child, tmeter_id, ChildHash> children_;
};

/// Throws BadFile for a name that is not UTF-8 or longer than 64 KiB.
void check_name(std::string_view name);

}  // namespace loading
