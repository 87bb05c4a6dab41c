// Values for weightless tensors. Only models whose control flow depends on data need
// them.
#pragma once
#include <map>
#include <string>
#include <unordered_map>

#include "operators/evaluator.hpp"
#include "operators/libtorch_jit.hpp"
#include "torchscript/load/model_file.hpp"

namespace tmeter::torch_backend {

class RealValues final : public TensorValues {
 public:
  explicit RealValues(const ModelFile& file) : file_(file) {}

  /// The first parameter whose values are not in the file; empty if the file has all.
  std::string missing_weight() const;
  /// Bytes of all weights.
  uint64_t weight_bytes() const;

  /// The tensor with values from the file. Inputs, and weights that the file lacks, are made up:
  /// random numbers of a fixed seed, integers 0.
  at::Tensor of(const at::Tensor& tensor) override;

 private:
  at::Tensor from_file(const at::Tensor& tensor, const StorageRecord& record);

  const ModelFile& file_;
  std::map<std::pair<const StorageRecord*, at::ScalarType>, at::Tensor> storages_;  // flat
  // By identity, so that changes in place persist; the pairs keep their keys alive.
  std::unordered_map<const c10::TensorImpl*, std::pair<at::Tensor, at::Tensor>> made_;
};

/// During its lifetime, CPU tensors of more than `bytes` in total are refused with
/// TMETER_CANNOT_RUN.
class MemoryLimit {
 public:
  explicit MemoryLimit(uint64_t bytes);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  /// The maximum in use since the last reset.
  uint64_t peak() const;
  void reset_peak();

 private:
  c10::Allocator* before_;
};

}  // namespace tmeter::torch_backend
