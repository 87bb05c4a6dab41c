// The arguments a model is run with: given by the user, recorded in a trace, or inferred.
#pragma once
#include <string>
#include <vector>

#include "operators/libtorch_jit.hpp"
#include "torchscript/load/model_file.hpp"

namespace tmeter::torch_backend {

struct ModelInput {
  std::string name;    // name in forward's signature
  std::string origin;  // "given", "recorded", "inferred", "default"
  std::string text;    // the user's text, for messages
  c10::IValue value;
};

using InputSet = std::vector<ModelInput>;

/// Sets to try in turn; several if inputs must be inferred. Throws TMETER_BAD_USAGE with the
/// signature and an example of --input if no candidate exists.
std::vector<InputSet> input_sets(const ModelFile& file, const Request& request);

/// "forward(images: Tensor, mask: Optional[Tensor] = None)"
std::string signature(const c10::FunctionSchema& schema);

/// The inputs that the user gave: "--input 1x4x224x224"; may be empty.
std::string given_text(const InputSet& inputs);

/// The inferred inputs: "x=1x3x224x224 mask=1x128:i64".
std::string inferred_text(const InputSet& inputs);

}  // namespace tmeter::torch_backend
