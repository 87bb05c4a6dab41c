// Values to try for arguments of which only a clue is known.
#pragma once
#include <string>
#include <vector>

#include "torchscript/input_inference/constraints.hpp"

namespace tmeter::torch_backend {

/// An argument that has to be inferred.
struct Unknown {
  std::string name;
  c10::TypePtr type;
  Clue clue;
};

/// One value for each of `unknowns`, in their order.
using Choice = std::vector<c10::IValue>;

/// What to try, best first; empty when an argument is of a type nothing can be guessed for.
/// `known` is an argument of another place (given or recorded) that the rest should fit; undefined
/// when there is none. `sizes` are image sizes the model names itself.
std::vector<Choice> choices(const std::vector<Unknown>& unknowns, const at::Tensor& known,
                            const std::vector<int64_t>& sizes);

/// "1x3x224x224", "1x16:i64", "[3x800x800]", "true": as --input would be written.
std::string as_option(const c10::IValue& value);

}  // namespace tmeter::torch_backend
