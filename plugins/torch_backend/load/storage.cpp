#include "load/storage.hpp"

#include <cstring>

namespace tmeter::torch_backend {
namespace {

void keep(void*) {}  // records belong to the table

/// One past the last element reached, in elements; -1 when the geometry is impossible.
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
    const std::string& folder) {
  // The records of a model built on the meta device are empty: they count as large enough.
  constexpr uint64_t kAnySize = uint64_t{1} << 48;
  auto context = std::make_shared<torch::jit::DeserializationStorageContext>();
  for (const auto& [name, entry] : archive_.folder(folder)) {
    auto& record = records_.emplace_back(StorageRecord{folder + name, entry});
    context->addStorage(
        name, c10::Storage(c10::Storage::use_byte_size_t(), entry.size ? entry.size : kAnySize,
                           at::DataPtr(nullptr, &record, &keep, at::kMeta),
                           c10::GetAllocator(at::kMeta), /*resizable=*/true));
  }
  return context;
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
