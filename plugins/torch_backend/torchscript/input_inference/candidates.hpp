// Constraints on an input that neither the file nor the user describes, found by following the
// argument through the program to the first operators that restrict it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "operators/libtorch_jit.hpp"

namespace tmeter::torch_backend {

/// The requirement of the first operator with a weight that the input reaches.
struct Constraint {
  enum class Kind { kNone, kChannels, kFeatures, kSequence, kIndices };
  Kind kind = Kind::kNone;
  int64_t size = 0;          // channels or features
  int64_t spatial = 0;       // kChannels: the number of spatial dims, 1 to 3
  bool batch_first = false;  // kSequence: [batch, time, features] and not [time, batch, features]
  at::ScalarType dtype = at::kFloat;
};

/// The constraint on argument `i` of forward; 0 is the first after self.
Constraint constraint_on_argument(const torch::jit::Module& root, size_t i);

/// The constraint of the model's first weights, for an argument that reaches no operator with a
/// weight.
Constraint constraint_of_weights(const torch::jit::Module& root);

/// The type of the first floating-point parameter, or float32.
at::ScalarType float_type_of(const torch::jit::Module& root);

/// Image sizes in attributes and constants of modules (image_size = 384), in their order.
std::vector<int64_t> named_image_sizes(const torch::jit::Module& root);

// Trial values for arguments that only constraints describe.

/// An argument that has to be inferred.
struct UnknownInput {
  std::string name;
  c10::TypePtr type;
  Constraint constraint;
};

/// One value for each unknown input, in their order.
using Candidate = std::vector<c10::IValue>;

/// Candidates, best first; empty if an argument has a type without candidates. `given` is a given
/// or recorded argument that the others should fit; it may be undefined. `sizes` are image sizes
/// that the model names.
std::vector<Candidate> input_candidates(const std::vector<UnknownInput>& unknowns,
                                        const at::Tensor& given, const std::vector<int64_t>& sizes);

/// The value as --input takes it: "1x3x224x224", "1x16:i64", "[3x800x800]", "true".
std::string as_option(const c10::IValue& value);

}  // namespace tmeter::torch_backend
