// The signature of an exported program: what each input of its graph is.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "series.hpp"
#include "text_store.hpp"

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
  std::vector<json::element> outputs;  // Arguments, those that are for the user
  std::deque<json::document> pieces;   // behind elements of a list that came in pieces
};

/// `inputs`: its list of those.
Signature read_signature(json::object signature, const Series& inputs, TextStore& texts);

}  // namespace pt2
