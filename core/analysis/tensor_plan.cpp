#include "core/analysis/tensor_plan.hpp"

#include <algorithm>

#include "core/plugin_host/tensor_bytes.hpp"

namespace tmeter::core {
namespace {

constexpr int64_t kChunk = int64_t{256} << 10;     // bytes: within a core's second-level cache
constexpr int64_t kPart = int64_t{16} << 20;       // bytes: enough to make up for begin and merge
constexpr int64_t kLongestRow = int64_t{4} << 20;  // bytes: longer rows are split
constexpr int64_t kSplit = 4096;                   // elements

}  // namespace

TensorPlan::TensorPlan(const Tensor& t) : numel(t.numel) {
  if (numel == 0) return;
  const int64_t bytes = std::max<int64_t>(element_bytes(t.dtype), 1);
  const int64_t row = t.dims.empty() ? 1 : numel / t.dims[0];
  const int64_t unit = row <= kLongestRow / bytes ? row : kSplit;
  chunk = std::max<int64_t>(kChunk / bytes / unit, 1) * unit;
  part = std::max<int64_t>(kPart / bytes / chunk, 1) * chunk;
}

}  // namespace tmeter::core
