// Reductions along dims, statistics, normalisations, losses, Fourier transforms, and matrix
// products.
#include "operators/meta_kernels/registry.hpp"

namespace tmeter::torch_backend {
namespace {

/// The dims left when `reduced` (empty: all) are summed over.
Dims remaining(const at::Tensor& x, const Dims& reduced, bool keepdim) {
  std::vector<bool> gone(static_cast<size_t>(x.dim()), reduced.empty());
  for (const auto d : reduced) {
    if (x.dim() > 0) gone[static_cast<size_t>(wrap(d, x.dim()))] = true;
  }
  Dims out;
  for (int64_t i = 0; i < x.dim(); ++i) {
    if (!gone[static_cast<size_t>(i)]) out.push_back(x.size(i));
    if (gone[static_cast<size_t>(i)] && keepdim) out.push_back(1);
  }
  return out;
}

Dims reduced_dims(const KernelCall& call) { return call.has("dim") ? call.ints("dim") : Dims{}; }

void statistic(KernelCall& call) {
  const auto x = call.tensor("self");
  call.give(like(x, remaining(x, reduced_dims(call), call.boolean("keepdim"))));
}

void two_statistics(KernelCall& call) {
  statistic(call);
  call.give(at::empty_like(call.result(0)));
}

void to_scalar(KernelCall& call) { call.give(like(call.tensor("self"), {})); }

at::ScalarType sum_type(const KernelCall& call, const at::Tensor& x) {
  const bool integral = at::isIntegralType(x.scalar_type(), /*includeBool=*/true);
  return call.dtype("dtype").value_or(integral ? at::kLong : x.scalar_type());
}

void prod(KernelCall& call) {
  const auto x = call.tensor("self");
  call.give(like(x, {}, sum_type(call, x)));
}

void nansum(KernelCall& call) {
  const auto x = call.tensor("self");
  call.give(like(x, remaining(x, reduced_dims(call), call.boolean("keepdim")), sum_type(call, x)));
}

void count_nonzero(KernelCall& call) {
  const auto x = call.tensor("self");
  call.give(like(x, remaining(x, reduced_dims(call), false), at::kLong));
}

// (values, indices) along one dim
void value_and_index(KernelCall& call) {
  const auto x = call.tensor("self");
  const auto dims = remaining(x, {call.integer("dim")}, call.boolean("keepdim"));
  call.give(like(x, dims));
  call.give(like(x, dims, at::kLong));
}

void aminmax(KernelCall& call) {
  to_scalar(call);
  to_scalar(call);
}

// Batch norm gives (output, saved mean, saved inverse deviation); the last two only when training.
void batch_norm_with(KernelCall& call, bool training) {
  const auto x = call.tensor("input");
  const Dims saved{training && x.dim() > 1 ? x.size(1) : 0};
  call.give(at::empty_like(x));
  call.give(like(x, saved));
  call.give(like(x, saved));
}
void batch_norm(KernelCall& call) { batch_norm_with(call, call.boolean("training")); }
void batch_norm_no_stats(KernelCall& call) { batch_norm_with(call, true); }
void batch_norm_with_update(KernelCall& call) {
  batch_norm_with(call, true);
  call.give(like(call.tensor("input"), {0}, at::kByte));  // reserve
}

// weight_norm(v, g, dim) → (v * g / |v|, |v|)
void weight_norm(KernelCall& call) {
  call.give(at::empty_like(call.tensor("v")));
  call.give(at::empty_like(call.tensor("g")));
}

void trace(KernelCall& call) {
  const auto x = call.tensor("self");
  call.give(like(x, {}, sum_type(call, x)));
}

void addbmm(KernelCall& call) {
  const auto a = call.tensor("batch1"), b = call.tensor("batch2");
  call.give(like(call.tensor("self"), {a.size(1), b.size(2)}));
}

// [n, k] x [k, m] → [n, m]
void int_mm(KernelCall& call) {
  const auto a = call.tensor("self"), b = call.tensor("mat2");
  call.give(like(a, {a.size(0), b.size(1)}, at::kInt));
}
void scaled_mm(KernelCall& call) {
  const auto a = call.tensor("self"), b = call.tensor("mat2");
  call.give(like(a, {a.size(0), b.size(1)}, call.dtype("out_dtype").value_or(a.scalar_type())));
}
void int8_packed_mm(KernelCall& call) {  // mat2: [m, k]
  const auto a = call.tensor("self"), b = call.tensor("mat2");
  call.give(like(a, {a.size(0), b.size(0)}));
}

// self [N, C, H, W], target [N, H, W] → (losses of all places unless reduced to one, total weight)
void nll_loss2d(KernelCall& call) {
  const auto x = call.tensor("self");
  call.give(like(x, call.integer("reduction") == 0 ? call.tensor("target").sizes().vec() : Dims{}));
  call.give(like(x, {}));
}

// [n, M] → the distances of all pairs
void pdist(KernelCall& call) {
  const auto x = call.tensor("self");
  call.give(like(x, {x.size(0) * (x.size(0) - 1) / 2}));
}

// x1 [B…, P, M], x2 [B…, R, M] → [B…, P, R]
void cdist(KernelCall& call) {
  const auto a = call.tensor("x1"), b = call.tensor("x2");
  auto out = a.sizes().vec();
  out.back() = b.size(-2);
  call.give(like(a, out));
}

// _fft_r2c(self, dim, normalization, onesided): the last transformed dim is halved when onesided.
void fft_r2c(KernelCall& call) {
  const auto x = call.tensor("self");
  auto out = x.sizes().vec();
  if (call.boolean("onesided")) {
    auto& last = out[static_cast<size_t>(wrap(call.ints("dim").back(), x.dim()))];
    last = last / 2 + 1;
  }
  call.give(like(x, out, at::toComplexType(x.scalar_type())));
}
void fft_c2r(KernelCall& call) {
  const auto x = call.tensor("self");
  auto out = x.sizes().vec();
  out[static_cast<size_t>(wrap(call.ints("dim").back(), x.dim()))] = call.integer("last_dim_size");
  call.give(like(x, out, at::toRealValueType(x.scalar_type())));
}
void fft_c2c(KernelCall& call) { call.give(at::empty_like(call.tensor("self"))); }

// [N, F, T] or [F, T] → [N, length] or [length]. The kernel of LibTorch reads whether the windows
// cover every sample.
void istft(KernelCall& call) {
  const auto x = call.tensor("self");
  TORCH_CHECK(x.dim() == 2 || x.dim() == 3, "takes 2 or 3 dims, got ", x.sizes());
  const int64_t window = call.integer("n_fft");
  const int64_t hop = call.has("hop_length") ? call.integer("hop_length") : window / 4;
  const int64_t whole = window + hop * (x.size(-1) - 1);
  const int64_t length = call.has("length")       ? call.integer("length")
                         : call.boolean("center") ? whole - window / 2 * 2
                                                  : whole;
  TORCH_CHECK(length > 0, "has no samples left");
  auto out = x.sizes().vec();
  out.pop_back();
  out.back() = length;
  const bool complex = call.boolean("return_complex");
  call.give(like(x, out, complex ? x.scalar_type() : at::toRealValueType(x.scalar_type())));
}

// n variables in rows → [n, n], or a scalar of one. The kernel of LibTorch reads the sum of the
// weights.
void covariance(KernelCall& call) {
  const auto x = call.tensor("self");
  TORCH_CHECK(x.dim() <= 2, "takes at most 2 dims, got ", x.sizes());
  const int64_t variables = x.dim() < 2 ? 1 : x.size(0);
  call.give(like(x, variables == 1 ? Dims{} : Dims{variables, variables}, float_type(x)));
}

/// Losses of one frame, unless all are reduced to one (0: not).
Dims losses(const KernelCall& call, int64_t frames_from_rank) {
  const auto x = call.tensor("self"), target = call.tensor("target");
  if (call.integer("reduction") != 0 || target.dim() < frames_from_rank) return {};
  return {x.dim() < 2 ? 1 : x.size(0)};
}
void multi_margin_loss(KernelCall& call) { call.give(like(call.tensor("self"), losses(call, 1))); }
void multilabel_margin_loss(KernelCall& call) {
  const auto x = call.tensor("self");
  call.give(like(x, losses(call, 2)));
  call.give(like(x, call.tensor("target").sizes()));
}

constexpr KernelEntry kReductionTable[] = {
    {"aten::var.correction", statistic},
    {"aten::std.correction", statistic},
    {"aten::var_mean.correction", two_statistics},
    {"aten::std_mean.correction", two_statistics},
    {"aten::max", to_scalar},
    {"aten::min", to_scalar},
    {"aten::median", to_scalar},
    {"aten::nanmedian", to_scalar},
    {"aten::_aminmax", aminmax},
    {"aten::prod", prod},
    {"aten::nansum", nansum},
    {"aten::trace", trace},
    {"aten::dot", to_scalar},
    {"aten::vdot", to_scalar},
    {"aten::count_nonzero.dim_IntList", count_nonzero},
    {"aten::median.dim", value_and_index},
    {"aten::median.dim_values", value_and_index},
    {"aten::nanmedian.dim", value_and_index},
    {"aten::nanmedian.dim_values", value_and_index},
    {"aten::mode", value_and_index},
    {"aten::kthvalue", value_and_index},
    {"aten::native_batch_norm", batch_norm},
    {"aten::_native_batch_norm_legit", batch_norm},
    {"aten::_native_batch_norm_legit.no_stats", batch_norm_no_stats},
    {"aten::_batch_norm_with_update", batch_norm_with_update},
    {"aten::_weight_norm_interface", weight_norm},
    {"aten::addbmm", addbmm},
    {"aten::_int_mm", int_mm},
    {"aten::_scaled_mm", scaled_mm},
    {"aten::_weight_int8pack_mm", int8_packed_mm},
    {"aten::_cdist_forward", cdist},
    {"aten::_fft_c2c", fft_c2c},
    {"aten::_fft_r2c", fft_r2c},
    {"aten::_fft_c2r", fft_c2r},
    {"aten::istft", istft, /*replaces_stub=*/true},
    {"aten::cov", covariance, /*replaces_stub=*/true},
    {"aten::_pdist_forward", pdist},
    {"aten::nll_loss2d_forward", nll_loss2d},
    {"aten::multi_margin_loss", multi_margin_loss},
    {"aten::multilabel_margin_loss_forward", multilabel_margin_loss},
};

}  // namespace

std::span<const KernelEntry> reduction_kernels() { return kReductionTable; }

}  // namespace tmeter::torch_backend
