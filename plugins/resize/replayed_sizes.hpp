// Sizes and numbers that a replay computed; they replace the recorded ones.
#pragma once
#include <string_view>
#include <unordered_map>
#include <vector>

#include "operators/arguments.hpp"
#include "operators/libtorch.hpp"
#include "sizes.hpp"

namespace tmeter::resize {

using namespace torch_backend;  // operators/, the base of this plugin

/// Numbers that replace an argument's numbers in the program.
struct Literal {
  std::string_view argument;
  Sizes sizes;
};

struct ReplayedSizes {
  std::unordered_map<const tmeter_value*, Sizes> dims;           // dims of tensors
  std::unordered_map<const tmeter_value*, c10::IValue> numbers;  // computed sizes and conditions
  std::unordered_map<size_t, std::vector<Literal>> literals;     // replaced literals, by node
  /// Inserted before a node's first operand, as constant_pad_nd.
  std::unordered_map<size_t, Sizes> pads;
};

/// The dims of a tensor in `replayed`, else those of the graph.
inline Sizes dims_in(const ReplayedSizes& replayed, const Value& value) {
  const auto it = replayed.dims.find(value.handle());
  return it != replayed.dims.end() ? it->second : sizes_of(value.shape());
}

/// A module of torch.nn keeps the numbers it was constructed with; these do not follow from sizes.
inline bool is_of_torch_nn(const Node& node) {
  return node.call().module().qualified_type().starts_with("torch.nn.modules.");
}

/// Writes the replayed graph: the recorded one with other sizes.
void emit(const Graph& recorded, const ReplayedSizes& replayed, GraphBuilder& builder);

}  // namespace tmeter::resize
