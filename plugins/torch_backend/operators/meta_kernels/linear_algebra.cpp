// Grouped matrix products, solvers, factorisations.
#include "operators/meta_kernels/registry.hpp"

namespace tmeter::torch_backend {
namespace {

void as_matrix(KernelCall& call) { call.give(at::empty_like(call.tensor("self"))); }
void as_input(KernelCall& call) { call.give(at::empty_like(call.tensor("input"))); }
void ormqr(KernelCall& call) { call.give(at::empty_like(call.tensor("input3"))); }

// Follows _meta_grouped_mm_common in torch/_meta_registrations.py: `offs` has the end of each group
// of rows of a 2-d matrix; a 3-d tensor has one matrix for each group.
void grouped_mm(KernelCall& call) {
  const auto a = call.tensor("self"), b = call.tensor("mat2");
  TORCH_CHECK((a.dim() == 2 || a.dim() == 3) && (b.dim() == 2 || b.dim() == 3),
              "takes matrices of 2 or 3 dims");
  const bool by_ends = a.dim() == 2 || b.dim() == 2;
  TORCH_CHECK(by_ends == call.has("offs"), "takes offs exactly if a matrix has 2 dims");
  TORCH_CHECK(a.dim() == 2 && b.dim() == 2 ? a.size(1) == b.size(0) : a.size(-1) == b.size(-2),
              "takes matrices whose inner sizes agree, got ", a.sizes(), " and ", b.sizes());
  Dims out{a.size(-2), b.size(-1)};
  if (a.dim() == 2 && b.dim() == 2) out.insert(out.begin(), call.tensor("offs").size(0));
  if (a.dim() == 3 && b.dim() == 3) {
    TORCH_CHECK(a.size(0) == b.size(0), "takes the same number of matrices from both");
    out.insert(out.begin(), a.size(0));
  }
  call.give(like(a, out, call.dtype("out_dtype").value_or(a.scalar_type())));
}

// A [*, n, n] and B [*, n, k] → [*, n, k]; from the right, A [*, k, k].
void solve_triangular(KernelCall& call) {
  const auto a = call.tensor("self"), b = call.tensor("B");
  TORCH_CHECK(a.dim() >= 2 && b.dim() >= 2 && a.size(-1) == a.size(-2),
              "takes square matrices, got ", a.sizes());
  TORCH_CHECK(a.size(-1) == b.size(call.boolean("left") ? -2 : -1), "cannot be applied to ",
              a.sizes(), " and ", b.sizes());
  auto out = at::infer_size(a.sizes().slice(0, static_cast<size_t>(a.dim()) - 2),
                            b.sizes().slice(0, static_cast<size_t>(b.dim()) - 2));
  out.push_back(b.size(-2));
  out.push_back(b.size(-1));
  call.give(like(b, out));
}

at::ScalarType complex_of(const at::Tensor& t) {
  return at::isComplexType(t.scalar_type()) ? t.scalar_type()
         : t.scalar_type() == at::kDouble   ? at::kComplexDouble
                                            : at::kComplexFloat;
}

/// [*, n, n] → [*, n]
Dims diagonal_of(const at::Tensor& t) {
  TORCH_CHECK(t.dim() >= 2 && t.size(-1) == t.size(-2), "takes square matrices, got ", t.sizes());
  auto out = t.sizes().vec();
  out.pop_back();
  return out;
}

void eigenvalues(KernelCall& call) {
  const auto a = call.tensor("self");
  call.give(like(a, diagonal_of(a), complex_of(a)));
}

void eigen(KernelCall& call) {
  eigenvalues(call);
  const auto a = call.tensor("self");
  call.give(like(a, a.sizes(), complex_of(a)));
}

// [*, m, n] → R and reflectors [*, m, n], tau [*, min(m, n)]
void geqrf(KernelCall& call) {
  const auto a = call.tensor("self");
  TORCH_CHECK(a.dim() >= 2, "takes matrices, got ", a.sizes());
  auto tau = a.sizes().vec();
  tau.pop_back();
  tau.back() = std::min(a.size(-1), a.size(-2));
  call.give(at::empty_like(a));
  call.give(like(a, tau));
}

constexpr KernelEntry kLinearAlgebraTable[] = {
    {"aten::_grouped_mm", grouped_mm, /*replaces_stub=*/true},
    {"aten::linalg_solve_triangular", solve_triangular},
    {"aten::linalg_matrix_exp", as_matrix},
    {"aten::linalg_eig", eigen},
    {"aten::_linalg_eigvals", eigenvalues},
    {"aten::linalg_householder_product", as_input},
    {"aten::cholesky_inverse", as_matrix},
    {"aten::geqrf", geqrf},
    {"aten::ormqr", ormqr},
    {"aten::_cholesky_solve_helper", as_matrix},
};

}  // namespace

std::span<const KernelEntry> linear_algebra_kernels() { return kLinearAlgebraTable; }

}  // namespace tmeter::torch_backend
