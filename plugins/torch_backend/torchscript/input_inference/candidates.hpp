// Values to try for arguments of which only constraints are known.
#pragma once
#include <string>
#include <vector>

#include "torchscript/input_inference/constraints.hpp"

namespace tmeter::torch_backend {

/// An argument that has to be inferred.
struct UnknownInput {
  std::string name;
  c10::TypePtr type;
  Constraint constraint;
};

/// One value for each unknown input, in their order.
using Candidate = std::vector<c10::IValue>;

/// Candidates, best first; empty if an argument has a type without candidates. `known` is a given
/// or recorded argument that the others should fit; it may be undefined. `sizes` are image sizes
/// that the model names.
std::vector<Candidate> input_candidates(const std::vector<UnknownInput>& unknowns,
                                        const at::Tensor& known, const std::vector<int64_t>& sizes);

/// The value as --input takes it: "1x3x224x224", "1x16:i64", "[3x800x800]", "true".
std::string as_option(const c10::IValue& value);

}  // namespace tmeter::torch_backend
