// The values behind weightless tensors, for the one kind of model that needs them: where the
// program goes depends on them.
#pragma once
#include <map>
#include <string>
#include <unordered_map>

#include "operators/evaluator.hpp"
#include "operators/libtorch.hpp"
#include "torchscript/load/model_file.hpp"

namespace tmeter::torch_backend {

class RealValues final : public TensorValues {
 public:
  explicit RealValues(const ModelFile& file) : file_(file) {}

  /// The first parameter whose values are not in the file; empty when all are there.
  std::string missing_weight() const;
  /// Bytes of all weights.
  uint64_t weight_bytes() const;

  /// The tensor with values: from the file, or made up for what has none (inputs: random numbers
  /// of a fixed seed, integers zero).
  at::Tensor of(const at::Tensor& tensor) override;

 private:
  at::Tensor from_file(const at::Tensor& tensor, const StorageRecord& record);

  const ModelFile& file_;
  std::map<std::pair<const StorageRecord*, at::ScalarType>, at::Tensor> storages_;  // flat
  // By identity: a value that is changed in place stays changed. The keys are kept alive.
  std::unordered_map<const c10::TensorImpl*, std::pair<at::Tensor, at::Tensor>> made_;
};

/// While it lives, CPU memory of tensors above `bytes` is refused with TMETER_CANNOT_RUN.
class MemoryLimit {
 public:
  explicit MemoryLimit(uint64_t bytes);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  /// The most that was in use at once, since it was last forgotten.
  uint64_t peak() const;
  void forget_peak();

 private:
  c10::Allocator* before_;
};

}  // namespace tmeter::torch_backend
