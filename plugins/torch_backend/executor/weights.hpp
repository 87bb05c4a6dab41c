// Parameters, buffers, constants and inputs with values, from files or made up.
#pragma once
#include <tmeter/cpp/executor.hpp>
#include <unordered_map>
#include <unordered_set>

#include "operators/libtorch.hpp"
#include "torchscript/run/loaded_model_state.hpp"

namespace tmeter::torch_backend {

class Weights {
 public:
  Weights(const LoadedModelState& state, const ExecutorCall& call, at::Device device, uint64_t seed)
      : state_(state), call_(call), device_(device), seed_(seed) {}

  /// One tensor for all tied ones, in separate memory if the model changes it. Throws
  /// TMETER_CANNOT_RUN for a tensor that LibTorch cannot represent.
  at::Tensor of(const Tensor& tensor, bool mutated);

  /// "of the file", "random, seed 0", "of the file; 3 of 160 tensors random, seed 0"
  std::string described() const;

 private:
  at::Tensor make(const Tensor& tensor, bool mutated);
  at::Tensor generated_tensor(const Tensor& tensor, at::ScalarType type) const;

  const LoadedModelState& state_;
  const ExecutorCall& call_;
  at::Device device_;
  uint64_t seed_;
  std::unordered_map<const tmeter_tensor*, at::Tensor> made_;
  size_t random_ = 0;
};

/// The element type. Throws TMETER_CANNOT_RUN if LibTorch lacks it or tmeter cannot run it.
at::ScalarType scalar_type_of(DType dtype, std::string_view of_what);

inline std::vector<int64_t> vector_of(Shape shape) { return {shape.begin(), shape.end()}; }

/// The canonical tensors that operators write into, directly or through views. `operators` has the
/// operator of each node, empty for size arithmetic.
std::unordered_set<const tmeter_tensor*> mutated_tensors(
    const Graph& graph, const std::vector<std::optional<c10::OperatorHandle>>& operators);

struct RunInputs {
  std::vector<at::Tensor> tensors;  // in the order of Program::inputs
  std::string described;            // "made up, seed 0", "of x.npy"
};

/// Throws TMETER_BAD_USAGE if a file does not fit, naming the file, the input, and both shapes.
RunInputs inputs_for(const Graph& graph, const tmeter_run_request& request, at::Device device);

}  // namespace tmeter::torch_backend
