// The signature of an exported program: the role of each input and output of its graph.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "building.hpp"
#include "document.hpp"

namespace pt2 {

/// A parameter, buffer or lifted constant.
struct TensorSpec {
  int32_t kind = 0;           // TMETER_TENSOR_…
  std::string_view argument;  // its name in the graph
  std::string_view name;      // "layer1.0.conv1.weight"
  bool persistent = true;     // buffers: part of the state dict
};

/// An input of the model, or something else the graph may refer to.
struct InputSpec {
  enum class Kind { kUser, kConstant, kObject, kToken } kind = Kind::kUser;
  std::string_view name;
  json::element value;  // kUser: Argument; kConstant: ConstantValue; kObject: CustomObjArgument
};

struct Signature {
  std::vector<TensorSpec> tensors;
  std::vector<InputSpec> inputs;
  // Names in the graph, in its order; empty for constants.
  std::vector<std::string_view> input_names, output_names;
  std::vector<std::string_view> targets;  // names of the inputs that the program writes into
  std::vector<json::element> outputs;     // Arguments of the user outputs
  std::deque<json::document> pieces;      // own the elements of inputs that came in pieces
};

/// The name in an Argument; empty for constants.
std::string_view name_in(json::element argument);

/// `inputs` is the list `input_specs` of the signature.
Signature read_signature(json::object signature, const ChunkedArray& inputs, TextStore& texts);

}  // namespace pt2
