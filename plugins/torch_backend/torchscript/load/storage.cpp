#include "torchscript/load/storage.hpp"

#include <ATen/EmptyTensor.h>

#include <cstring>

namespace tmeter::torch_backend {
namespace {

void keep(void*) {}  // records belong to the table

/// The records of a model built on the meta device are empty and count as large enough.
constexpr uint64_t kAnySize = uint64_t{1} << 48;

/// Enough for the scales of any layer: one per channel.
constexpr uint64_t kMaxReadable = 1 << 20;

/// The bytes belong to the mapped file and must not be written.
c10::Storage storage_of(const StorageRecord& record, char* bytes, at::DeviceType device) {
  const auto size = record.entry.size ? record.entry.size : kAnySize;
  auto* place = const_cast<StorageRecord*>(&record);
  return {c10::Storage::use_byte_size_t(), size, at::DataPtr(bytes, place, &keep, device),
          c10::GetAllocator(device), /*resizable=*/true};
}

/// The number of elements up to the last one reached; -1 if sizes and strides are impossible.
int64_t reach(const at::Tensor& t) {
  int64_t last = t.storage_offset();
  bool overflow = last < 0;
  for (int64_t i = 0; i < t.dim(); ++i) {
    int64_t step = 0;
    if (t.size(i) == 0) return 0;
    overflow = overflow || t.size(i) < 0 || t.stride(i) < 0 ||
               __builtin_mul_overflow(t.size(i) - 1, t.stride(i), &step) ||
               __builtin_add_overflow(last, step, &last);
  }
  return overflow || last == INT64_MAX ? -1 : last + 1;
}

}  // namespace

std::shared_ptr<torch::jit::DeserializationStorageContext> StorageTable::open(
    const std::string& folder, at::DeviceType device) {
  auto context = std::make_shared<torch::jit::DeserializationStorageContext>();
  for (const auto& [name, entry] : archive_.folder(folder)) {
    auto& record = records_.emplace_back(StorageRecord{folder + name, entry});
    const bool readable = device == at::kCPU && entry.size > 0 && entry.size <= kMaxReadable;
    const auto bytes = readable ? archive_.read(entry) : std::string_view();
    context->addStorage(name, storage_of(record, const_cast<char*>(bytes.data()), device));
  }
  return context;
}

at::Tensor StorageTable::to_meta(const at::Tensor& tensor) {
  const auto* record = of(tensor);
  if (!record || tensor.is_meta()) return tensor;
  auto& storage =
      on_meta_.try_emplace(record, storage_of(*record, nullptr, at::kMeta)).first->second;
  auto out = at::detail::empty_meta(at::IntArrayRef{0}, tensor.scalar_type(), std::nullopt);
  out.set_requires_grad(tensor.requires_grad());
  auto* impl = out.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(storage);
  impl->set_storage_offset(tensor.storage_offset());
  impl->set_sizes_and_strides(tensor.sizes(), tensor.strides());
  return out;
}

const StorageRecord* StorageTable::of(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.has_storage()) return nullptr;
  const auto& pointer = tensor.storage().data_ptr();
  return pointer.get_deleter() == &keep ? static_cast<const StorageRecord*>(pointer.get_context())
                                        : nullptr;
}

void StorageTable::check(const at::Tensor& tensor, const std::string& name) {
  const auto* record = of(tensor);
  const int64_t elements = reach(tensor);
  int64_t bytes = 0;
  const bool impossible =
      elements < 0 ||
      __builtin_mul_overflow(elements, static_cast<int64_t>(tensor.itemsize()), &bytes);
  const auto size = record && record->entry.size ? record->entry.size : uint64_t{INT64_MAX};
  if (!impossible && static_cast<uint64_t>(bytes) <= size) return;
  throw Error(TMETER_BAD_MODEL, "the archive is damaged: tensor '" + name + "' reaches beyond " +
                                    (record ? "its record '" + record->name + "'" : "any memory"));
}

at::Tensor StorageTable::read(const at::Tensor& tensor) const {
  const auto* record = of(tensor);
  if (!record || record->entry.size == 0 || tensor.numel() == 0) return {};
  check(tensor, record->name);
  const auto bytes = archive_.read(record->entry);
  const auto options = tensor.options().device(at::kCPU);
  auto flat = at::empty({static_cast<int64_t>(bytes.size() / tensor.itemsize())}, options);
  std::memcpy(flat.mutable_data_ptr(), bytes.data(), flat.nbytes());
  return flat.as_strided(tensor.sizes(), tensor.strides(), tensor.storage_offset());
}

}  // namespace tmeter::torch_backend
