// Tensors without bytes: what the unpickler is given instead of weights.
//
// Every storage of the file becomes a meta storage whose DataPtr context points at its record, so
// that a tensor can be traced back to its place in the file. Bytes are copied only for small
// tensors whose values may steer the program (constants, integer buffers).
//
// LibTorch's unpickler cannot make quantized tensors on the meta device. A pickle that has some
// gets storages that say they are the CPU's; its tensors become meta ones before anything computes.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "torchscript/archive/archive.hpp"
#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

struct StorageRecord {
  std::string name;  // "data/12"
  Entry entry;
};

/// Owns the records; must outlive the tensors.
class StorageTable {
 public:
  explicit StorageTable(const Archive& archive) : archive_(archive) {}
  StorageTable(const StorageTable&) = delete;

  /// Weightless storages for every record below the folder ("data/"), as the unpickler takes them:
  /// on the meta device, or said to be the CPU's. Of the latter, small ones can be read: the scales
  /// of a quantized tensor are while it is made.
  std::shared_ptr<torch::jit::DeserializationStorageContext> open(const std::string& folder,
                                                                  at::DeviceType device);

  /// The tensor on the meta device, its place in the file kept; tensors of one record share it.
  at::Tensor to_meta(const at::Tensor& tensor);

  /// Where the tensor's storage comes from; null when it is not from the file.
  static const StorageRecord* of(const at::Tensor& tensor);

  /// Throws TMETER_BAD_MODEL when sizes and strides reach beyond the storage or make no sense.
  static void check(const at::Tensor& tensor, const std::string& name);

  /// A CPU copy with the file's values; an undefined tensor when the file has no bytes for it.
  at::Tensor read(const at::Tensor& tensor) const;

 private:
  const Archive& archive_;
  std::deque<StorageRecord> records_;  // at stable addresses
  std::unordered_map<const StorageRecord*, c10::Storage> on_meta_;
};

}  // namespace tmeter::torch_backend
