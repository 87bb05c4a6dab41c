// Storages without bytes, which the unpickler gets in place of weights.
//
// Every storage of the file becomes a meta storage. The context of its DataPtr points at its
// record, so a tensor can be traced back to its place in the file. Bytes are copied only for small
// tensors whose values may control the program (constants, integer buffers).
//
// LibTorch's unpickler cannot create quantized tensors on the meta device. A pickle with quantized
// tensors gets storages marked as the CPU's; its tensors become meta tensors before anything
// computes.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "operators/libtorch_jit.hpp"
#include "torchscript/archive/archive.hpp"

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
  /// on the meta device, or marked as the CPU's. Small ones of the latter have their bytes, because
  /// creating a quantized tensor reads its scales.
  std::shared_ptr<torch::jit::DeserializationStorageContext> open(const std::string& folder,
                                                                  at::DeviceType device);

  /// The tensor on the meta device, its place in the file kept; tensors of one record share it.
  at::Tensor to_meta(const at::Tensor& tensor);

  /// The record of the tensor's storage; null if it is not from the file.
  static const StorageRecord* of(const at::Tensor& tensor);

  /// Throws TMETER_BAD_MODEL if sizes and strides are impossible or reach beyond the storage.
  static void check(const at::Tensor& tensor, const std::string& name);

  /// A CPU copy with the file's values; an undefined tensor if the file has no bytes for it.
  at::Tensor read(const at::Tensor& tensor) const;

 private:
  const Archive& archive_;
  std::deque<StorageRecord> records_;  // at stable addresses
  std::unordered_map<const StorageRecord*, c10::Storage> on_meta_;
};

}  // namespace tmeter::torch_backend
