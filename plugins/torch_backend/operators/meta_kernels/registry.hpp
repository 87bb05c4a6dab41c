// Meta kernels that LibTorch lacks in C++; Python has them in torch/_meta_registrations.py.
//
// A kernel reads its arguments by schema name and returns meta tensors. It is written once, for the
// functional form; the in-place and out= forms follow from it. Kernels are boxed, so one source
// fits LibTorch 2.6 to 2.15. Each is registered only if LibTorch lacks it.
//
//   void relu(KernelCall& call) { call.give(at::empty_like(call.tensor("self"))); }
//   constexpr KernelEntry kTable[] = {{"aten::relu", relu}};
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "operators/libtorch.hpp"

namespace tmeter::torch_backend {

using Dims = std::vector<int64_t>;

class KernelCall {
 public:
  KernelCall(const c10::FunctionSchema& schema, const torch::jit::Stack& args)
      : schema_(schema), args_(args) {}

  bool has(std::string_view name) const;  // false if absent or None
  const c10::IValue& value(std::string_view name) const;
  at::Tensor tensor(std::string_view name) const { return value(name).toTensor(); }
  int64_t integer(std::string_view name) const { return value(name).toInt(); }
  bool boolean(std::string_view name) const { return value(name).toBool(); }
  Dims ints(std::string_view name) const { return value(name).toIntVector(); }
  /// A list with one value per spatial dim; a single value applies to all.
  Dims ints(std::string_view name, size_t count) const;
  std::optional<at::ScalarType> dtype(std::string_view name) const;

  void give(const at::Tensor& result) { results_.emplace_back(result); }
  void answer(const c10::IValue& result) { results_.push_back(result); }
  at::Tensor result(size_t i) const { return results_[i].toTensor(); }
  torch::jit::Stack& results() { return results_; }

 private:
  const c10::FunctionSchema& schema_;
  const torch::jit::Stack& args_;
  torch::jit::Stack results_;
};

using Kernel = void (*)(KernelCall& call);

struct KernelEntry {
  const char* op;  // functional form: "aten::where.self"
  Kernel kernel;
  bool replaces_stub = false;  // LibTorch's kernel fails on tensors without values
};

/// Registers every kernel of this folder with LibTorch for its own lifetime. If two plugins of one
/// process have copies of these kernels, each must call its own, because its evaluator reads the
/// state of that copy only (EvaluationState).
class MetaKernels {
 public:
  MetaKernels();
  ~MetaKernels();
  MetaKernels(const MetaKernels&) = delete;
  MetaKernels& operator=(const MetaKernels&) = delete;

 private:
  struct Registrations;
  std::unique_ptr<Registrations> registrations_;
};

// The tables, one per file.
std::span<const KernelEntry> attention_kernels();
std::span<const KernelEntry> convolution_kernels();
std::span<const KernelEntry> elementwise_kernels();
std::span<const KernelEntry> indexing_kernels();
std::span<const KernelEntry> linear_algebra_kernels();
std::span<const KernelEntry> reduction_kernels();
/// For matrices in compressed rows.
std::span<const KernelEntry> sparse_kernels();

// Helpers of the kernels.
inline at::Tensor like(const at::Tensor& t, at::IntArrayRef dims) {
  return at::empty(dims, t.options());
}
inline at::Tensor like(const at::Tensor& t, at::IntArrayRef dims, at::ScalarType dtype) {
  return at::empty(dims, t.options().dtype(dtype));
}
/// A tensor with the same dims and memory format, and this type.
at::Tensor same(const at::Tensor& t, at::ScalarType dtype);
/// The type of floating-point results: integers and bools become the default float type.
at::ScalarType float_type(const at::Tensor& t);
int64_t wrap(int64_t dim, int64_t rank);

}  // namespace tmeter::torch_backend
