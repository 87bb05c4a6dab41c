#include "torchscript/run/real_values.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "operators/limits.hpp"

namespace tmeter::torch_backend {
namespace {

constexpr uint8_t kPriority = 200;  // above LibTorch's own allocators

/// False if the file has no bytes for the tensor, or one element shared by all (a weightless file).
bool has_values(const at::Tensor& t) {
  const auto* record = StorageTable::of(t);
  if (t.numel() == 0 || !record) return true;
  const auto strides = t.strides();
  const bool shared =
      t.numel() > 1 && std::all_of(strides.begin(), strides.end(), [](auto s) { return s == 0; });
  return record->entry.size > 0 && !shared;
}

/// Counts memory and forwards to LibTorch's allocator. One per process, because tensors may outlive
/// a run.
class CountingAllocator final : public c10::Allocator {
 public:
  void begin(c10::Allocator* base, uint64_t limit) {
    base_ = base;
    limit_ = limit;
    reset_peak();
  }
  void reset_peak() { peak_ = used_.load(); }
  uint64_t peak() const { return peak_; }

  c10::DataPtr allocate(size_t bytes) override {
    const auto used = used_.load() + bytes;
    if (used > limit_) {
      const Error error(TMETER_CANNOT_RUN,
                        "running the model takes more than " + std::to_string(limit_ >> 20) +
                            " MiB (raise it with --set torch-backend.max-memory=MiB)");
      if (auto* limits = Limits::current()) limits->stop(error);
      throw error;
    }
    auto inner = base_->allocate(bytes);
    auto* const data = inner.get();
    // Some kernels release memory by its address only, so the address must identify the block.
    TORCH_CHECK(inner.get_deleter() == base_->raw_deleter() && inner.get_context() == data,
                "tmeter does not support this allocator of LibTorch");
    inner.release_context();
    {
      const std::lock_guard lock(mutex_);
      if (data) sizes_[data] = bytes;
    }
    used_ += bytes;
    peak_ = std::max<uint64_t>(peak_, used);
    return {data, data, &release, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

 private:
  static void release(void* data);

  c10::Allocator* base_ = nullptr;
  uint64_t limit_ = 0, peak_ = 0;
  std::atomic<uint64_t> used_{0};
  std::mutex mutex_;
  std::unordered_map<void*, size_t> sizes_;
};

CountingAllocator& counting_allocator() {
  static auto* const allocator = new CountingAllocator();  // never destroyed
  return *allocator;
}

/// Tensors that outlive the run are released here, too.
void CountingAllocator::release(void* data) {
  auto& all = counting_allocator();
  {
    const std::lock_guard lock(all.mutex_);
    const auto it = all.sizes_.find(data);
    if (it != all.sizes_.end()) {
      all.used_ -= it->second;
      all.sizes_.erase(it);
    }
  }
  all.base_->raw_deleter()(data);
}

}  // namespace

std::string RealValues::missing_weight() const {
  for (const auto& p : file_.root().named_parameters()) {
    if (!has_values(p.value)) return p.name;
  }
  return {};
}

uint64_t RealValues::weight_bytes() const {
  uint64_t bytes = 0;
  std::map<const StorageRecord*, bool> seen;
  for (const at::Tensor& p : file_.root().parameters()) {
    const auto* record = StorageTable::of(p);
    if (record && seen.emplace(record, true).second) bytes += record->entry.size;
  }
  return bytes;
}

at::Tensor RealValues::of(const at::Tensor& tensor) {
  if (!tensor.is_meta()) return tensor;
  const auto it = made_.find(tensor.unsafeGetTensorImpl());
  if (it != made_.end()) return it->second.second;
  const auto* record = StorageTable::of(tensor);
  at::Tensor real;
  if (record && record->entry.size > 0) {
    real = from_file(tensor, *record);
  } else {
    const auto options = tensor.options().device(at::kCPU);
    real = at::isFloatingType(tensor.scalar_type()) ? at::rand(tensor.sizes(), options)
                                                    : at::zeros(tensor.sizes(), options);
  }
  made_.emplace(tensor.unsafeGetTensorImpl(), std::pair(tensor, real));
  return real;
}

at::Tensor RealValues::from_file(const at::Tensor& tensor, const StorageRecord& record) {
  StorageTable::check(tensor, record.name);
  auto& flat = storages_[{&record, tensor.scalar_type()}];
  if (!flat.defined()) {
    const auto bytes = file_.archive().read(record.entry);
    flat = at::empty({static_cast<int64_t>(bytes.size() / tensor.itemsize())},
                     tensor.options().device(at::kCPU));
    std::memcpy(flat.mutable_data_ptr(), bytes.data(), flat.nbytes());
  }
  return flat.as_strided(tensor.sizes(), tensor.strides(), tensor.storage_offset());
}

MemoryLimit::MemoryLimit(uint64_t bytes) : before_(c10::GetAllocator(c10::kCPU)) {
  counting_allocator().begin(before_, bytes);
  c10::SetAllocator(c10::kCPU, &counting_allocator(), kPriority);
}

MemoryLimit::~MemoryLimit() { c10::SetAllocator(c10::kCPU, before_, kPriority); }

void MemoryLimit::reset_peak() { counting_allocator().reset_peak(); }

uint64_t MemoryLimit::peak() const { return counting_allocator().peak(); }

}  // namespace tmeter::torch_backend
