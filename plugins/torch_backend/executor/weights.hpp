// Parameters, buffers and constants with numbers: the file's, where it lies in memory, or made up.
#pragma once
#include <tmeter/cpp/executor.hpp>
#include <unordered_map>

#include "operators/libtorch.hpp"
#include "torchscript/loaded_model_state.hpp"

namespace tmeter::torch_backend {

class Weights {
 public:
  Weights(const LoadedModelState& state, const ExecutorCall& call, at::Device device, uint64_t seed)
      : state_(state), call_(call), device_(device), seed_(seed) {}

  /// The same tensor for tied ones; in memory of its own when the model changes it. Throws
  /// TMETER_CANNOT_RUN for one that LibTorch cannot have so.
  at::Tensor of(const Tensor& tensor, bool written);

  /// "of the file", "random, seed 0", "of the file; 3 of 160 tensors random, seed 0"
  std::string described() const;

 private:
  at::Tensor make(const Tensor& tensor, bool written);
  at::Tensor made_up(const Tensor& tensor, at::ScalarType type) const;

  const LoadedModelState& state_;
  const ExecutorCall& call_;
  at::Device device_;
  uint64_t seed_;
  std::unordered_map<const tmeter_tensor*, at::Tensor> made_;
  size_t random_ = 0;
};

/// The element type, if LibTorch has it and computes with it.
at::ScalarType scalar_type_of(DType dtype, std::string_view of_what);

inline std::vector<int64_t> vector_of(Shape shape) { return {shape.begin(), shape.end()}; }

}  // namespace tmeter::torch_backend
