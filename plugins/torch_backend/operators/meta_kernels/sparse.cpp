// Products of sparse matrices in compressed rows, and their conversion to coordinates. The number
// of non-zero elements of a product depends on the data, so an upper bound is used.
#include <algorithm>

#include "operators/evaluator.hpp"
#include "operators/meta_kernels/registry.hpp"

namespace tmeter::torch_backend {
namespace {

at::TensorOptions dense_like(const at::Tensor& t, at::ScalarType dtype) {
  return at::TensorOptions().device(t.device()).dtype(dtype);
}

/// Upper bound: each element of `a` is multiplied by each element of `b` at most once.
int64_t max_elements(const at::Tensor& a, const at::Tensor& b) {
  int64_t all = 0, pairs = 0;
  const bool many = __builtin_mul_overflow(a.size(0), b.size(1), &all);
  if (__builtin_mul_overflow(a._nnz(), b._nnz(), &pairs)) pairs = all;
  TORCH_CHECK(!many, "gives a matrix with too many elements to count");
  return std::min(all, pairs);
}

// LibTorch computes a product of two matrices as an addmm onto zeros.
void sparse_product(KernelCall& call) {
  const auto a = call.tensor("mat1"), b = call.tensor("mat2");
  TORCH_CHECK(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(0),
              "takes matrices whose inner sizes agree, got ", a.sizes(), " and ", b.sizes());
  const Dims out{a.size(0), b.size(1)};
  if (a.layout() != at::kSparseCsr || b.layout() != at::kSparseCsr)
    return call.give(at::empty(out, dense_like(a, a.scalar_type())));
  const auto count = max_elements(a, b);
  evaluation_state().assumed = Assumption::kLargest;
  call.give(at::_sparse_csr_tensor_unsafe(at::empty({out[0] + 1}, dense_like(a, at::kLong)),
                                          at::empty({count}, dense_like(a, at::kLong)),
                                          at::empty({count}, dense_like(a, a.scalar_type())), out,
                                          a.options()));
}

void to_coordinates(KernelCall& call) {
  const auto x = call.tensor("self");
  if (call.has("layout"))
    TORCH_CHECK(call.value("layout").toLayout() == at::kSparse,
                "is supported only for a conversion to coordinates");
  const auto count = x._nnz();
  call.give(at::_sparse_coo_tensor_unsafe(at::empty({x.dim(), count}, dense_like(x, at::kLong)),
                                          at::empty({count}, dense_like(x, x.scalar_type())),
                                          x.sizes(), x.options().layout(at::kSparse),
                                          /*is_coalesced=*/true));
}

constexpr KernelEntry kSparseTable[] = {
    {"aten::addmm", sparse_product},
    {"aten::_to_sparse", to_coordinates},
    {"aten::_to_sparse.sparse_dim", to_coordinates},
};

}  // namespace

std::span<const KernelEntry> sparse_kernels() { return kSparseTable; }

}  // namespace tmeter::torch_backend
